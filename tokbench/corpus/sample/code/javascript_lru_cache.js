// A least-recently-used cache with optional expiry, plus a memoize helper.
//
// A Map remembers insertion order, so the oldest entry is always the first
// key. Touching an entry means deleting it and putting it back at the end.

import { EventEmitter } from 'node:events';
import { performance } from 'node:perf_hooks';

const ONE_MINUTE_MS = 60 * 1000;

export class LruCache extends EventEmitter {
  #entries = new Map();
  #stats = { hits: 0, misses: 0, evictions: 0 };

  constructor(capacity = 100, { ttl = Infinity, now = () => performance.now() } = {}) {
    super();
    if (!(capacity > 0)) {
      throw new RangeError('capacity must be greater than zero');
    }
    this.capacity = capacity;
    this.ttl = ttl;
    this.now = now;
  }

  get size() {
    return this.#entries.size;
  }

  get hitRate() {
    const { hits, misses } = this.#stats;
    const total = hits + misses;
    return total === 0 ? 0 : hits / total;
  }

  get(key, fallback = undefined) {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt <= this.now()) {
      this.#stats.misses += 1;
      if (entry) this.#remove(key, 'expired');
      return fallback;
    }
    this.#stats.hits += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key, value, ttl = this.ttl) {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: this.now() + ttl });
    while (this.#entries.size > this.capacity) {
      const [oldestKey] = this.#entries.keys();
      this.#remove(oldestKey, 'capacity');
    }
    return this;
  }

  has(key) {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresAt > this.now();
  }

  delete(key) {
    return this.#entries.delete(key);
  }

  prune() {
    const cutoff = this.now();
    let removed = 0;
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt <= cutoff) {
        this.#remove(key, 'expired');
        removed++;
      }
    }
    return removed;
  }

  #remove(key, reason) {
    const { value } = this.#entries.get(key);
    this.#entries.delete(key);
    this.#stats.evictions += 1;
    this.emit('evict', { key, value, reason });
  }

  *[Symbol.iterator]() {
    for (const [key, { value }] of this.#entries) {
      yield [key, value];
    }
  }
}

/** Share one pending promise between callers that ask for the same thing. */
export function memoizeAsync(fn, { capacity = 50, ttl = 5 * ONE_MINUTE_MS, keyOf = String } = {}) {
  const cache = new LruCache(capacity, { ttl });
  return async function memoized(...args) {
    const key = keyOf(...args);
    let pending = cache.get(key);
    if (pending === undefined) {
      pending = Promise.resolve(fn.apply(this, args));
      pending.catch(() => cache.delete(key)); // never remember a failure
      cache.set(key, pending);
    }
    return pending;
  };
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const lookUpCity = memoizeAsync(async (name) => {
  await sleep(15);
  const elevations = { Zürich: 408, Bogotá: 2640, Kraków: 219 };
  return { name, metres: elevations[name] ?? null };
});

const cache = new LruCache(2);
cache.on('evict', ({ key, reason }) => console.log(`- dropped ${key} (${reason})`));
cache.set('α', 1).set('β', 2);
cache.get('α');
cache.set('γ', 3); // β goes, because α was touched more recently

console.log([...cache], `hit rate ${(cache.hitRate * 100).toFixed(1)}%`);
console.log(await Promise.all(['Zürich', 'Bogotá', 'Zürich'].map((city) => lookUpCity(city))));
