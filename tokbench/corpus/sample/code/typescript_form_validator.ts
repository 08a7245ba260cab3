// Composable validators: each one turns unknown input into a typed value, or
// into a list of problems that says where the value went wrong.

export type Issue = { path: readonly (string | number)[]; message: string };

export type Result<T> =
  | { ok: true; value: T }
  | { ok: false; issues: Issue[] };

export interface Validator<T> {
  check(input: unknown, path?: readonly (string | number)[]): Result<T>;
}

export type Infer<V> = V extends Validator<infer T> ? T : never;

const pass = <T>(value: T): Result<T> => ({ ok: true, value });
const fail = (path: Issue["path"], message: string): Result<never> => ({
  ok: false,
  issues: [{ path, message }],
});

export function text(opts: { min?: number; max?: number; pattern?: RegExp } = {}): Validator<string> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, pattern } = opts;
  return {
    check(input, path = []) {
      if (typeof input !== "string") return fail(path, "expected text");
      const value = input.trim();
      if (value.length < min) return fail(path, `needs at least ${min} characters`);
      if (value.length > max) return fail(path, `must not exceed ${max} characters`);
      if (pattern && !pattern.test(value)) return fail(path, "has the wrong format");
      return pass(value);
    },
  };
}

export function integer(low = -Infinity, high = Infinity): Validator<number> {
  return {
    check(input, path = []) {
      const value = typeof input === "string" && input !== "" ? Number(input) : input;
      if (typeof value !== "number" || !Number.isInteger(value)) {
        return fail(path, "expected a whole number");
      }
      return value >= low && value <= high
        ? pass(value)
        : fail(path, `must lie between ${low} and ${high}`);
    },
  };
}

export function oneOf<const T extends readonly string[]>(...choices: T): Validator<T[number]> {
  return {
    check(input, path = []) {
      const match = choices.find((choice) => choice === input);
      return match === undefined ? fail(path, `expected ${choices.join(" | ")}`) : pass(match);
    },
  };
}

export function optional<T>(inner: Validator<T>): Validator<T | undefined> {
  return {
    check: (input, path = []) =>
      input === undefined || input === "" ? pass(undefined) : inner.check(input, path),
  };
}

export function list<T>(inner: Validator<T>): Validator<T[]> {
  return {
    check(input, path = []) {
      if (!Array.isArray(input)) return fail(path, "expected a list");
      const values: T[] = [];
      const issues: Issue[] = [];
      input.forEach((element, index) => {
        const result = inner.check(element, [...path, index]);
        if (result.ok) values.push(result.value);
        else issues.push(...result.issues);
      });
      return issues.length === 0 ? pass(values) : { ok: false, issues };
    },
  };
}

type Shape = Record<string, Validator<unknown>>;
type Shaped<S extends Shape> = { [K in keyof S]: Infer<S[K]> };

export function record<S extends Shape>(shape: S): Validator<Shaped<S>> {
  return {
    check(input, path = []) {
      if (typeof input !== "object" || input === null) return fail(path, "expected an object");
      const output: Partial<Record<string, unknown>> = {};
      const issues: Issue[] = [];
      for (const [key, validator] of Object.entries(shape)) {
        const result = validator.check((input as Record<string, unknown>)[key], [...path, key]);
        if (result.ok) output[key] = result.value;
        else issues.push(...result.issues);
      }
      return issues.length === 0 ? pass(output as Shaped<S>) : { ok: false, issues };
    },
  };
}

const signUpForm = record({
  displayName: text({ min: 2, max: 40 }),
  postcode: optional(text({ pattern: /^\d{4,5}$/ })),
  seats: integer(1, 6),
  language: oneOf("en", "fr", "日本語"),
  guests: list(record({ name: text({ min: 1 }), age: integer(0, 120) })),
});

export type SignUp = Infer<typeof signUpForm>;

export function describeSignUp(raw: unknown): string {
  const result = signUpForm.check(raw);
  if (!result.ok) {
    return result.issues.map(({ path, message }) => `${path.join(".")} – ${message}`).join("\n");
  }
  const { displayName, seats, guests } = result.value;
  return `${displayName} booked ${seats} seat(s) for ${guests.length + 1} people`;
}
