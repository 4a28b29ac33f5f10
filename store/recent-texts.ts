/**
 * Values that were made of texts read lately: a record that is looked at again and again is read from its text once.
 * Owns how many are kept. A value is shared by all who read the same text, so it must never change.
 */

export class RecentTexts<Value extends object> {
  private readonly make: (text: string) => Value;
  private readonly max: number;
  private lately = new Map<string, Value>();
  private before = new Map<string, Value>();

  /** Keeps `max` values at least and twice as many at most. */
  constructor(make: (text: string) => Value, max: number) {
    this.make = make;
    this.max = max;
  }

  /** The same value for the same text, as long as it is kept. @throws whatever `make` throws */
  valueOf(text: string): Value {
    const known = this.lately.get(text);
    if (known !== undefined) return known;
    const value = this.before.get(text) ?? this.make(text);
    // What was not asked for since the last time goes: cheaper than an order of use that every look changes.
    if (this.lately.size >= this.max) {
      this.before = this.lately;
      this.lately = new Map();
    }
    this.lately.set(text, value);
    return value;
  }
}
