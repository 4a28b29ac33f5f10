/**
 * `parley logs`: what agents said and did, as the store has it.
 * Owns which conversations are printed and how long; lines are made in print/event-line.ts.
 */
import type { ConversationId } from '../../core/ids.ts';
import { endedWell } from '../../core/status.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { timeOfDay } from '../../core/text/amounts.ts';
import { CliError } from '../../host/cli-error.ts';
import type { Reader } from '../../host/host-port.ts';
import { cut } from '../../host/terminal-text.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { eventLine } from '../print/event-line.ts';
import { readEvidence } from '../run-results.ts';
import { checkLines, evidenceRecord, findingLines } from '../print/evidence.ts';
import { openRecords, type RecordStream } from '../../host/records.ts';
import { openRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import type { Shell, TextStream } from '../../host/shell.ts';
import { followRun, interruptSignal } from '../watch-run.ts';

interface LogsOptions extends ServerOptions, Flags {
  readonly follow?: true;
  readonly failed?: true;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('logs')
    .description('Print the transcripts of a run.')
    .argument('<run>', 'id of the run')
    .argument('[key]', 'key of one conversation (default: all)')
    .option('-f, --follow', 'go on until the run ends')
    .option('--failed', 'only conversations that ended otherwise than well')
    .shares('json', 'config', 'server')
    .says('Exit codes: 0 printed, 2 there is no such run or key, 130 interrupted.')
    .examples(
      'parley logs first-batch-20261121t043105-9f3c --failed',
      'parley logs first-batch-20261121t043105-9f3c esm-entry -f',
    )
    .action(
      ends((id: string, key: string | undefined, options: LogsOptions) =>
        logs(shell, { id, key: key ?? null, options }),
      ),
    );
}

interface LogsRequest {
  readonly id: string;
  readonly key: string | null;
  readonly options: LogsOptions;
}

async function logs(shell: Shell, request: LogsRequest): Promise<ExitCode> {
  const { id, options } = request;
  const { reader, row } = await openRun(shell, { id, ...options });
  const { runId } = row;
  const interrupt = interruptSignal(shell);
  try {
    choose(await reader.runItems(runId), request);
    const records = options.json === true ? openRecords(shell.stdout) : null;
    const printer = transcriptPrinter({ reader, stdout: shell.stdout, records });
    if (options.follow !== true) await printer.print(choose(await reader.runItems(runId), request));
    else {
      const { signal } = interrupt;
      await followRun({
        shell,
        reader,
        runId,
        signal,
        onRows: (_, items) => printer.print(choose(items, request)),
      });
    }
    const chosen = choose(await reader.runItems(runId), request);
    const evidence = await readEvidence(chosen, reader.results);
    for (const one of evidence) records?.write(evidenceRecord(one));
    const lines = [...checkLines(evidence, Infinity), ...findingLines(evidence)];
    if (records === null && lines.length > 0) shell.stdout.write(`\n${lines.join('\n')}\n`);
    return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupt.release();
    await reader.close();
  }
}

/** @throws CliError when no item has the key */
function choose(items: readonly RunItemRow[], { id, key, options }: LogsRequest): readonly RunItemRow[] {
  const named = key === null ? items : items.filter((item) => item.key === key);
  if (key !== null && named.length === 0) {
    throw new CliError(`Cannot print "${key}": the run "${id}" has no conversation of this key`, {
      remedy: `list them with: parley status ${id}`,
    });
  }
  if (options.failed !== true) return named;
  return named.filter((item) => item.phase === 'ended' && !endedWell(item.outcome));
}

const PAGE_EVENTS = 500;
const DETAIL_WIDTH = 180;

interface TranscriptPrinter {
  /** Prints what is new in the conversations of these items. */
  print(items: readonly RunItemRow[]): Promise<void>;
}

interface Cursor {
  event: number;
  lifecycle: number;
  /** The sentence that was printed last: a conversation that its sandbox refused is placed again. */
  placement: string | null;
}

/**
 * Transcripts of a run's conversations, printed once each event and in order, however often it is called.
 * Owns the cursors; must not decide when to poll again.
 */
function transcriptPrinter(options: {
  readonly reader: Reader;
  readonly stdout: TextStream;
  /** Null prints lines. */
  readonly records: RecordStream | null;
}): TranscriptPrinter {
  const { reader, stdout, records } = options;
  const cursors = new Map<string, Cursor>();
  const printEvents = async (key: string, id: ConversationId, cursor: { event: number }): Promise<void> => {
    for (;;) {
      const page = await reader.events(id, { afterSequence: cursor.event, limit: PAGE_EVENTS });
      for (const event of page) {
        cursor.event = event.sequence;
        if (records !== null) {
          records.write({
            type: 'event',
            key,
            conversation_id: id,
            sequence: event.sequence,
            event: event.body,
          });
          continue;
        }
        const line = eventLine(key, event);
        if (line !== null) stdout.write(`${line}\n`);
      }
      if (page.length < PAGE_EVENTS) return;
    }
  };
  const printPlacement = async (key: string, id: ConversationId, cursor: Cursor): Promise<void> => {
    const placement = await reader.placement(id);
    if (placement === null || placement === cursor.placement) return;
    cursor.placement = placement;
    if (records !== null) records.write({ type: 'placement', key, conversation_id: id, placement });
    else stdout.write(`${key} placed by ${placement}\n`);
  };
  const printLifecycle = async (
    key: string,
    id: ConversationId,
    cursor: { lifecycle: number },
  ): Promise<void> => {
    const all = await reader.lifecycleEvents(id);
    for (const { at, code, detail } of all.slice(cursor.lifecycle)) {
      if (records !== null) records.write({ type: 'lifecycle', key, conversation_id: id, at, code, detail });
      else stdout.write(`${timeOfDay(at)} ${key} ${code}: ${cut(detail, DETAIL_WIDTH)}\n`);
    }
    cursor.lifecycle = all.length;
  };
  return {
    async print(items) {
      for (const { key, conversationId } of items) {
        if (conversationId === null) continue;
        const cursor = cursors.get(conversationId) ?? { event: 0, lifecycle: 0, placement: null };
        cursors.set(conversationId, cursor);
        await printPlacement(key, conversationId, cursor);
        await printEvents(key, conversationId, cursor);
        await printLifecycle(key, conversationId, cursor);
      }
    },
  };
}
