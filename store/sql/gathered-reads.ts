/**
 * Reads by id that are asked for in the same turn of the event loop are one statement.
 * Owns the gathering: a trip to the server costs both sides more than a row that is found by its key. Must not know a table.
 */
import { setImmediate as eventLoopTick } from 'node:timers/promises';

type RowsById<Row> = ReadonlyMap<string, Row>;

interface Batch<Row> {
  readonly ids: Set<string>;
  readonly rows: Promise<RowsById<Row>>;
}

export class GatheredReads<Row> {
  private readonly readAll: (ids: readonly string[]) => Promise<RowsById<Row>>;
  private readonly idsMax: number;
  private open: Batch<Row> | null = null;

  /** `idsMax` bounds one statement; `readAll` gets each id once. */
  constructor(readAll: (ids: readonly string[]) => Promise<RowsById<Row>>, idsMax: number) {
    this.readAll = readAll;
    this.idsMax = idsMax;
  }

  /**
   * What was found, perhaps with rows that others asked for. `ids` are at most `idsMax`, and are read in one statement
   * that begins after this call: it sees every write that was acknowledged before.
   */
  read(ids: readonly string[]): Promise<RowsById<Row>> {
    const batch =
      this.open !== null && this.open.ids.size + ids.length <= this.idsMax ? this.open : this.begin();
    for (const id of ids) batch.ids.add(id);
    return batch.rows;
  }

  private begin(): Batch<Row> {
    const ids = new Set<string>();
    const send = (): Promise<RowsById<Row>> => {
      if (this.open === batch) this.open = null;
      return this.readAll([...ids]);
    };
    const batch = { ids, rows: eventLoopTick().then(send) };
    this.open = batch;
    return batch;
  }
}
