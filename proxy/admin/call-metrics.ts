/**
 * Figures of calls that have ended, for `GET /metrics` and the log.
 * Owns the counts; labels are names of the configuration, so that no caller can make their number grow, and they
 * contain neither keys nor texts of calls.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { SpendRow } from '../../core/money/spend.ts';

/** Upper bounds in seconds: from a gateway that answers at once to the longest reasoning of a model. */
const DURATION_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** How often the event loop delay is sampled: a finer resolution would cost more than it is worth. */
const LOOP_RESOLUTION_MS = 20;

interface Durations {
  readonly counts: number[];
  count: number;
  sumMs: number;
}

interface Outcome {
  readonly route: string;
  readonly state: string;
  readonly status: number;
  calls: number;
}

interface ModelFigures {
  readonly model: string;
  /** Few: searching a list is quicker than building a key for a map. */
  readonly outcomes: Outcome[];
  readonly durations: Durations;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  costNanoUsd: number;
  unpriced: number;
}

export class CallMetrics {
  private readonly models = new Map<string, ModelFigures>();
  private readonly delays = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });

  constructor() {
    this.delays.enable();
  }

  stop(): void {
    this.delays.disable();
  }

  /** A sample of the delay of the event loop. */
  loopDelay(share: number): string {
    const seconds = Math.max(0, this.delays.percentile(share * 100) / 1e9 - LOOP_RESOLUTION_MS / 1_000);
    return `{quantile="${share}"} ${seconds.toFixed(6)}`;
  }

  add(row: SpendRow, model: string): void {
    const figures = this.figures(model);
    outcomeOf(figures, row).calls += 1;
    figures.promptTokens += row.promptTokens ?? 0;
    figures.completionTokens += row.completionTokens ?? 0;
    figures.cachedTokens += row.cachedTokens ?? 0;
    figures.costNanoUsd += row.cost ?? 0;
    if (row.cost === null) figures.unpriced += 1;
    addDuration(figures.durations, (row.endedAt ?? row.startedAt) - row.startedAt);
  }

  /** One sample a line in Prometheus' text form, without HELP and TYPE lines. */
  samples(): ReadonlyMap<string, readonly string[]> {
    const all = [...this.models.values()];
    const perModel = (value: (figures: ModelFigures) => number): readonly string[] =>
      all.map((figures) => `{model="${label(figures.model)}"} ${value(figures)}`);
    const tokens = (kind: string, value: (figures: ModelFigures) => number): readonly string[] =>
      all.map((figures) => `{model="${label(figures.model)}",kind="${kind}"} ${value(figures)}`);
    return new Map([
      [
        'calls_total',
        all.flatMap((figures) =>
          figures.outcomes.map(
            ({ route, state, status, calls }) =>
              `{model="${label(figures.model)}",route="${route}",state="${state}",status="${status}"} ${calls}`,
          ),
        ),
      ],
      [
        'tokens_total',
        [
          ...tokens('prompt', (figures) => figures.promptTokens),
          ...tokens('completion', (figures) => figures.completionTokens),
          ...tokens('cached', (figures) => figures.cachedTokens),
        ],
      ],
      ['cost_nano_usd_total', perModel((figures) => figures.costNanoUsd)],
      ['unpriced_calls_total', perModel((figures) => figures.unpriced)],
    ]);
  }

  /** Samples of the histogram `name`. */
  histogram(name: string): readonly string[] {
    return [...this.models.values()].flatMap(({ model, durations }) => {
      const own = `model="${label(model)}"`;
      const buckets = DURATION_BOUNDS_S.map(
        (bound, i) => `${name}_bucket{${own},le="${bound}"} ${durations.counts[i] ?? 0}`,
      );
      return [
        ...buckets,
        `${name}_bucket{${own},le="+Inf"} ${durations.count}`,
        `${name}_sum{${own}} ${durations.sumMs / 1_000}`,
        `${name}_count{${own}} ${durations.count}`,
      ];
    });
  }

  private figures(model: string): ModelFigures {
    const known = this.models.get(model);
    if (known !== undefined) return known;
    const fresh: ModelFigures = {
      model,
      outcomes: [],
      durations: { counts: DURATION_BOUNDS_S.map(() => 0), count: 0, sumMs: 0 },
      promptTokens: 0,
      completionTokens: 0,
      cachedTokens: 0,
      costNanoUsd: 0,
      unpriced: 0,
    };
    this.models.set(model, fresh);
    return fresh;
  }
}

function outcomeOf({ outcomes }: ModelFigures, row: SpendRow): Outcome {
  const status = row.httpStatus ?? 0;
  for (const one of outcomes)
    if (one.status === status && one.state === row.state && one.route === row.route) return one;
  const outcome = { route: row.route, state: row.state, status, calls: 0 };
  outcomes.push(outcome);
  return outcome;
}

/** The counts are cumulative, as the text form requires. */
function addDuration(durations: Durations, ms: number): void {
  durations.count += 1;
  durations.sumMs += ms;
  for (let i = DURATION_BOUNDS_S.length - 1; i >= 0; i -= 1) {
    if (ms > (DURATION_BOUNDS_S[i] ?? 0) * 1_000) break;
    durations.counts[i] = (durations.counts[i] ?? 0) + 1;
  }
}

function label(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
