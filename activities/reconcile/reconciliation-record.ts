/**
 * `reconciliation.json`: the whole result of a run's reconciliation, for reports and for users who check them.
 * Owns its stable order: the same rows give the same bytes but for the instant.
 */
import type { RunId } from '../../core/ids.ts';
import type { JudgedRow, RowVerdict } from '../../core/reconcile/reconcile-result.ts';
import type {
  ReconciliationFailed,
  ReconciliationHead,
  ReconciliationRecord,
  RecordedRow,
} from '../../core/reconcile/reconciliation-record.ts';
import type { World } from '../world.ts';

const FILE = 'reconciliation.json';

export async function writeFailure(world: World, record: ReconciliationFailed): Promise<void> {
  await write(world, record.runId, Buffer.from(`${JSON.stringify(record, null, 2)}\n`));
}

/** `chunks` are those of `RecordLines`. */
export async function writeChunks(
  world: World,
  runId: RunId,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  await write(world, runId, chunks);
}

async function write(
  world: World,
  runId: RunId,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  await world.results.write({ runId, key: null, name: FILE }, content);
}

/** A piece of the file. */
const CHUNK_BYTES = 256 * 1024;
/** In UTF-8, of one unit of a text at the most. */
const BYTES_PER_UNIT = 3;
/** Lines that are encoded together: to encode each by itself takes longer than to make it. */
const PENDING_UNITS = 8 * 1024;

/**
 * The file in pieces, since a million rows are more than one string can hold: one row a line, easy to search, and
 * after them the totals. Few lines wait to be encoded: many would live long enough to fill the heap.
 */
export class RecordLines {
  private readonly full: Uint8Array[] = [];
  private open = Buffer.allocUnsafe(CHUNK_BYTES);
  private used = 0;
  private pending = '';
  private isFirst = true;
  /** Of the row before, plain and as JSON: most bills name few models. */
  private model = '';
  private quotedModel = '""';

  constructor() {
    this.write('{\n  "rows": [');
  }

  add(verdict: RowVerdict, { responseId, startedAt, model }: JudgedRow): void {
    const id = responseId === null ? 'null' : quoted(responseId);
    if (model !== this.model) [this.model, this.quotedModel] = [model, quoted(model)];
    const found = `"responseId":${id},"startedAt":${startedAt},"model":${this.quotedModel}`;
    this.write(`${this.isFirst ? '' : ','}\n    ${membersOf(verdict)},${found}}`);
    this.isFirst = false;
  }

  /** Adds the end: nothing may follow but a last `take`. */
  end(head: ReconciliationHead): void {
    const rest = JSON.stringify(head, null, 2).slice(1);
    this.write(`${this.isFirst ? '' : '\n  '}],${rest}\n`);
    this.encode();
    this.close();
  }

  /** What is ready to be written. */
  take(): readonly Uint8Array[] {
    return this.full.splice(0);
  }

  private write(text: string): void {
    this.pending += text;
    if (this.pending.length >= PENDING_UNITS) this.encode();
  }

  private encode(): void {
    const text = this.pending;
    this.pending = '';
    const most = text.length * BYTES_PER_UNIT;
    if (this.used + most > this.open.byteLength) this.close();
    if (most > this.open.byteLength) this.full.push(Buffer.from(text));
    else this.used += this.open.write(text, this.used);
  }

  private close(): void {
    this.full.push(this.open.subarray(0, this.used));
    this.open = Buffer.allocUnsafe(CHUNK_BYTES);
    this.used = 0;
  }
}

/** The verdict as JSON without its closing brace. Nearly all are assigned, and need no general serialiser. */
function membersOf(verdict: RowVerdict): string {
  if (verdict.kind !== 'assigned') return JSON.stringify(verdict).slice(0, -1);
  const { kind, position, cost, isDuplicate, by, conversationId, isLate } = verdict;
  const head = `{"kind":"${kind}","position":${position},"cost":${cost},"isDuplicate":${isDuplicate}`;
  return `${head},"by":"${by}","conversationId":${quoted(conversationId)},"isLate":${isLate}`;
}

/** Texts that need no escape. */
const PLAIN = /^[\w./:-]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Null when the run was never reconciled, or the file is not one that this program wrote. */
export async function readRecord(
  world: Pick<World, 'results'>,
  runId: RunId,
): Promise<ReconciliationRecord | null> {
  const content = await world.results.read({ runId, key: null, name: FILE });
  if (content === null) return null;
  try {
    const record = JSON.parse(Buffer.from(content).toString('utf8')) as Partial<ReconciliationRecord> | null;
    const isOurs = record?.format === 1 && (record.kind === 'done' || record.kind === 'failed');
    if (!isOurs || record.runId !== runId) return null;
    const known = record as ReconciliationRecord;
    return known.kind === 'done' ? { ...known, rows: inOrder(known.rows) } : known;
  } catch {
    return null;
  }
}

/** In the file, the rows that were certain at once come first. */
function inOrder(rows: readonly RecordedRow[]): readonly RecordedRow[] {
  return [...rows].sort((a, b) => a.position - b.position);
}
