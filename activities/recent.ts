/**
 * Things read lately that never change once they are there.
 * Owns the bound on how many stay, per store they came from; must not keep what may still change, or an absence.
 */
export class Recent<Owner extends object, Key, Value> {
  private readonly byOwner = new WeakMap<Owner, Map<Key, Value>>();
  private readonly valuesMax: number;

  constructor(valuesMax: number) {
    this.valuesMax = valuesMax;
  }

  /** The value known from `owner`, or what `read` gives; a failing `read` leaves nothing behind. */
  async get(owner: Owner, key: Key, read: () => Promise<Value>): Promise<Value> {
    const values = this.byOwner.get(owner) ?? new Map<Key, Value>();
    this.byOwner.set(owner, values);
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = await read();
    values.set(key, value);
    const [oldest] = values.keys();
    if (oldest !== undefined && values.size > this.valuesMax) values.delete(oldest);
    return value;
  }
}
