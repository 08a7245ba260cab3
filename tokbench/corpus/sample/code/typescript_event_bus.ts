/**
 * A typed publish/subscribe hub. The map of event names to payloads is a type
 * parameter, so a misspelt event or a wrong payload fails at compile time.
 */

type Listener<T> = (payload: T, meta: EventMeta) => void | Promise<void>;
type Unsubscribe = () => void;
type EventName<M> = Extract<keyof M, string>;

interface EventMeta {
  readonly id: number;
  readonly name: string;
  readonly sentAt: Date;
}

interface SubscribeOptions {
  once?: boolean;
  priority?: number;
}

interface Subscription<T> extends Required<SubscribeOptions> {
  listener: Listener<T>;
}

export enum DeliveryMode {
  Parallel = "parallel",
  Series = "series",
}

export class EventBus<M extends object> {
  private readonly subscriptions = new Map<string, Subscription<any>[]>();
  private readonly history: Array<EventMeta & { payload: unknown }> = [];
  private nextId = 1;

  constructor(
    private readonly mode: DeliveryMode = DeliveryMode.Series,
    private readonly historyLimit = 32,
  ) {}

  on<K extends EventName<M>>(
    name: K,
    listener: Listener<M[K]>,
    { once = false, priority = 0 }: SubscribeOptions = {},
  ): Unsubscribe {
    const entry: Subscription<M[K]> = { listener, once, priority };
    const list = [...(this.subscriptions.get(name) ?? []), entry];
    list.sort((a, b) => b.priority - a.priority);
    this.subscriptions.set(name, list);
    return () => this.remove(name, entry);
  }

  async emit<K extends EventName<M>>(name: K, payload: M[K]): Promise<number> {
    const meta: EventMeta = { id: this.nextId++, name, sentAt: new Date() };
    this.remember(meta, payload);

    const targets: readonly Subscription<M[K]>[] = this.subscriptions.get(name) ?? [];
    for (const entry of targets) {
      if (entry.once) this.remove(name, entry);
    }

    if (this.mode === DeliveryMode.Parallel) {
      await Promise.all(targets.map(async ({ listener }) => listener(payload, meta)));
    } else {
      for (const { listener } of targets) {
        await listener(payload, meta);
      }
    }
    return targets.length;
  }

  /** Resolves with the next payload that satisfies the predicate. */
  waitFor<K extends EventName<M>>(
    name: K,
    predicate: (payload: M[K]) => boolean = () => true,
  ): Promise<M[K]> {
    return new Promise((resolve) => {
      const stop = this.on(name, (payload) => {
        if (!predicate(payload)) return;
        stop();
        resolve(payload);
      });
    });
  }

  private remove(name: string, entry: Subscription<any>): void {
    const rest = this.subscriptions.get(name)?.filter((other) => other !== entry);
    if (rest && rest.length > 0) {
      this.subscriptions.set(name, rest);
    } else {
      this.subscriptions.delete(name);
    }
  }

  private remember(meta: EventMeta, payload: unknown): void {
    this.history.push({ ...meta, payload });
    if (this.history.length > this.historyLimit) this.history.shift();
  }
}

interface KitchenEvents {
  orderPlaced: { table: number; dishes: string[] };
  dishReady: { table: number; dish: string; minutes: number };
  closed: undefined;
}

export async function runKitchen(): Promise<void> {
  const bus = new EventBus<KitchenEvents>();

  bus.on("orderPlaced", async ({ table, dishes }) => {
    for (const [index, dish] of dishes.entries()) {
      await bus.emit("dishReady", { table, dish, minutes: 8 + 3 * index });
    }
  });
  bus.on("dishReady", ({ table, dish, minutes }, { id }) => {
    console.log(`#${id} table ${table}: ${dish} after ${minutes} min`);
  });
  bus.on("closed", () => console.log("Kitchen closed. Gute Nacht! 🌙"), { once: true });

  await bus.emit("orderPlaced", { table: 7, dishes: ["crème brûlée", "jalapeño soup"] });
  await bus.emit("closed", undefined);
}
