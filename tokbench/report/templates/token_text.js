// The text and the place of a token: for the script of the report, which has this file inside, and for the playground.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Make an element with a class, text and attributes; text is never read as markup. */
export function make(tag, { text, cls, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (cls) element.className = cls;
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const hex = (byte) => byte.toString(16).padStart(2, "0");
export const hexOf = (bytes) => Array.from(bytes, hex).join(" ");

function whole(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Return bytes as text, those that are not of a whole character as \x and two digits; and whether there are any such bytes.
 * The function "visible" returns a text with everything in it visible.
 */
export function readable(bytes, visible) {
  const text = whole(bytes);
  if (text !== null) return { text: visible(text), part: false };
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at];
    const size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    const char = size && at + size <= bytes.length ? whole(bytes.subarray(at, at + size)) : null;
    shown += char === null ? `\\x${hex(lead)}` : visible(char);
    at += char === null ? 1 : size;
  }
  return { text: shown, part: true };
}

/** The places of one tokenizer's tokens in the bytes of a text; "lengths" has the bytes of each token, in their order. */
export class Places {
  constructor(lengths) {
    this.ends = new Uint32Array(lengths.length);
    let end = 0;
    lengths.forEach((length, k) => (this.ends[k] = end += length));
  }

  start(k) {
    return k ? this.ends[k - 1] : 0;
  }

  /** Return the bytes of a token. */
  data(bytes, k) {
    return bytes.subarray(this.start(k), this.ends[k]);
  }

  /** Return true if a token begins and ends at these bytes. */
  has(start, end) {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] < end) low = middle + 1;
      else high = middle;
    }
    for (; low < this.ends.length && this.ends[low] === end; low++) {
      if (this.start(low) === start) return true;
    }
    return false;
  }

  /** Return true if another tokenizer has no token at the place of this one. A tokenizer without any token is not compared. */
  differs(k, others) {
    return others.some((other) => other.ends.length && !other.has(this.start(k), this.ends[k]));
  }
}
