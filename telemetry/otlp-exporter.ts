/**
 * Sends spans to a collector: in batches, behind the work, and never at its cost.
 * Owns the queue and its bound; what a collector that is away has missed is dropped and reported.
 */
import { otlpSettings, type OtlpSettings } from './otlp-settings.ts';
import type { Span, SpanSink, AttributeValue } from './span.ts';

/** Spans on their way to a collector. */
export interface Spans extends SpanSink {
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

export interface SpansOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Version of Parley. */
  readonly version: string;
  /** Called once for each time that a collector begins to fail. */
  readonly onNotice: (text: string) => void;
}

/** Figures of OpenTelemetry's own batches. */
const SEND_EVERY_MS = 5_000;
const BATCH_MAX = 512;
const QUEUE_MAX = 2_048;
/** How long a collector may take; the end of the program waits for no more than one such answer. */
const ANSWER_MS_MAX = 5_000;

/**
 * Null when the environment names no collector.
 * @throws ParleyError config_invalid when what it says cannot be used
 */
export function openSpans({ env, version, onNotice }: SpansOptions): Spans | null {
  const settings = otlpSettings(env);
  if (settings === null) return null;
  return new BatchedSpans(settings, { serviceName: settings.serviceName, version }, onNotice);
}

class BatchedSpans implements Spans {
  private readonly settings: OtlpSettings;
  private readonly sender: Sender;
  private readonly onNotice: (text: string) => void;
  private queue: Span[] = [];
  private isFailing = false;
  private sending: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;

  constructor(settings: OtlpSettings, sender: Sender, onNotice: (text: string) => void) {
    this.settings = settings;
    this.sender = sender;
    this.onNotice = onNotice;
    this.timer = setInterval(() => this.flush(), SEND_EVERY_MS);
    // A program that has nothing else to do ends.
    this.timer.unref();
  }

  add(span: Span): void {
    // The newest are dropped: a trace without its end can still be read, one without its root cannot.
    if (this.queue.length >= QUEUE_MAX) return;
    this.queue.push(span);
    if (this.queue.length === BATCH_MAX) this.flush();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.flush();
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS_MAX);
    });
    await Promise.race([this.sending, enough]);
    clearTimeout(timer);
  }

  /** One request at a time: a slow collector is not made slower. */
  private flush(): void {
    this.sending = this.sending.then(async () => {
      while (this.queue.length > 0) {
        const batch = this.queue.slice(0, BATCH_MAX);
        const problem = await post(this.settings, otlpJson(batch, this.sender));
        if (problem === null || problem.isFinal) this.queue.splice(0, batch.length);
        this.tell(problem);
        if (problem !== null) return;
      }
    });
  }

  private tell(problem: Problem | null): void {
    if (problem !== null && !this.isFailing) this.onNotice(`Cannot send spans: ${problem.reason}`);
    this.isFailing = problem !== null;
  }
}

interface Problem {
  readonly reason: string;
  /** The same spans would be refused again. */
  readonly isFinal: boolean;
}

/** Statuses after which OpenTelemetry's protocol lets a sender try again. */
const AGAIN: readonly number[] = [429, 502, 503, 504];

async function post({ url, headers }: OtlpSettings, body: string): Promise<Problem | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.body?.cancel();
    if (response.ok) return null;
    const { status } = response;
    return { reason: `the collector answers with ${status}`, isFinal: !AGAIN.includes(status) };
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    return {
      reason: isLate ? 'the collector does not answer' : 'the collector cannot be reached',
      isFinal: false,
    };
  }
}

/** Spans in the form that collectors take: OTLP as JSON. */
interface Sender {
  readonly serviceName: string;
  /** Version of Parley. */
  readonly version: string;
}

export function otlpJson(spans: readonly Span[], { serviceName, version }: Sender): string {
  const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) };
  const scope = { name: 'parley', version };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanJson) }] }],
  });
}

/** `SPAN_KIND_INTERNAL` and `STATUS_CODE_ERROR`. */
const KIND_INTERNAL = 1;
const STATUS_ERROR = 2;

function spanJson(span: Span): unknown {
  const { traceId, spanId, parentSpanId, name, startMs, endMs, attributes, errorCode } = span;
  const error = errorCode === null ? {} : { 'error.type': errorCode };
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf({ ...attributes, ...error }),
    status: errorCode === null ? {} : { code: STATUS_ERROR, message: errorCode },
  };
}

function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

function attributesOf(attributes: Span['attributes']): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: AttributeValue): unknown {
  if (isList(value)) return { arrayValue: { values: listJson(value) } };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** One kind of value in a list: with one fraction in it, all its numbers are written as such (D21). */
function listJson(values: readonly (string | number | boolean)[]): readonly unknown[] {
  const hasFraction = values.some((value) => typeof value === 'number' && !Number.isSafeInteger(value));
  return values.map((value) =>
    hasFraction && typeof value === 'number' ? { doubleValue: value } : valueJson(value),
  );
}

function isList(value: AttributeValue): value is readonly string[] | readonly number[] | readonly boolean[] {
  return Array.isArray(value);
}
