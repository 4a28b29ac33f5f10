/**
 * Values that were made of texts read lately: a record that is looked at again and again is read from its text once.
 * Owns how many are kept. A value is shared by all who read the same text, so it must never change.
 */

/** Longer texts are rare, and are made a value each time: so many of them may not fill the memory. */
const LENGTH_MAX = 4_096;

interface Known<Value> {
  readonly text: string;
  readonly value: Value;
}

export class RecentTexts<Value> {
  private readonly make: (text: string) => Value;
  private readonly max: number;
  private lately = new Map<string, Known<Value>>();
  private before = new Map<string, Known<Value>>();

  /** Keeps `max` values at least and twice as many at most. */
  constructor(make: (text: string) => Value, max: number) {
    this.make = make;
    this.max = max;
  }

  /**
   * The value of `text`, the same one as long as it is kept. The name, of which the latest text counts, is what it is
   * looked up by: a short one is hashed sooner than a long text. @throws whatever `make` throws
   */
  valueOf(name: string, text: string): Value {
    if (text.length > LENGTH_MAX) return this.make(text);
    const recent = this.lately.get(name);
    if (recent?.text === text) return recent.value;
    const older = recent ?? this.before.get(name);
    const known = older?.text === text ? older : { text, value: this.make(text) };
    // What was not asked for since the last time goes: cheaper than an order of use that every look changes.
    if (this.lately.size >= this.max && recent === undefined) {
      this.before = this.lately;
      this.lately = new Map();
    }
    this.lately.set(name, known);
    return known.value;
  }
}
