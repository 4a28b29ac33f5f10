/**
 * A play as two pictures under one scale of time: conversations by what they do, and the slots that are held.
 * Owns the drawing, and what is said of the moment that the user points at; the same figures stand in the table below.
 */
import { type ReactElement, useCallback, useState } from 'react';
import UPlot from 'uplot';
import { coloursOf, type Drawn, Plot } from '../components/plot.tsx';
import { duration } from '../text/time.ts';
import {
  ACTIVITY_LABELS,
  instantAt,
  type Simulation,
  slotSteps,
  STACK,
  stackedSteps,
  type Steps,
} from './simulation-series.ts';
import './simulation.css';

const STACK_HEIGHT = 240;
const SLOTS_HEIGHT = 150;
const AXIS_WIDTH = 52;
const AXIS_HEIGHT = 30;
const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000];
/** Between two marks of the axis. */
const MARKS_MS = [
  ...[1, 5, 10, 30].map((one) => one * SECOND_MS),
  ...[1, 5, 10, 30].map((one) => one * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((one) => one * HOUR_MS),
  ...[1, 2, 5, 10].map((one) => one * DAY_MS),
];
const MARK_WIDTH_MIN = 70;

export function SimulationChart({ of }: { readonly of: Simulation }): ReactElement {
  const [pointed, setPointed] = useState<number | null>(null);
  const { shown_until_ms: untilMs, conversations, sandboxes_peak: peak, sandboxes_max: max } = of;
  const drawStack = useCallback(
    (place: HTMLElement): Drawn =>
      drawn({
        ...{ place, untilMs, steps: stackedSteps(of), height: STACK_HEIGHT, onPoint: setPointed },
        names: STACK.map((as) => `played-${as}`),
        isStacked: true,
      }),
    [of, untilMs],
  );
  const drawSlots = useCallback(
    (place: HTMLElement): Drawn =>
      drawn({
        ...{ place, untilMs, steps: slotSteps(of), height: SLOTS_HEIGHT, onPoint: setPointed },
        ...{ names: ['played-slots', 'played-limit'], isStacked: false },
      }),
    [of, untilMs],
  );
  return (
    <div className="card chart stack">
      <ul className="played-legend">
        {STACK.toReversed().map((as) => (
          <li key={as}>
            <span className={`swatch played-${as}`} aria-hidden="true" /> {ACTIVITY_LABELS[as]}
          </li>
        ))}
      </ul>
      <Plot
        label={`${conversations} ${conversations === 1 ? 'conversation' : 'conversations'} by what they do, over ${duration(untilMs)}`}
        draw={drawStack}
      />
      <h3>Sandboxes in use</h3>
      <Plot
        label={`Sandboxes in use over the same time: ${peak} at most, of ${max} allowed`}
        draw={drawSlots}
      />
      <p className="hint">{pointed === null ? 'Point at a moment for its figures.' : wordsOf(of, pointed)}</p>
    </div>
  );
}

interface Wanted {
  readonly place: HTMLElement;
  readonly untilMs: number;
  readonly steps: Steps;
  readonly height: number;
  /** A class for each row. */
  readonly names: readonly string[];
  /** The first row lies at the bottom, and each other on the one before; else only the first is filled. */
  readonly isStacked: boolean;
  onPoint(atMs: number | null): void;
}

function drawn({ place, untilMs, steps, height, names, isStacked, onPoint }: Wanted): Drawn {
  const colours = coloursOf(place, names);
  const axis = { stroke: colours.text, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const paths = UPlot.paths.stepped?.({ align: 1 });
  const series = steps.rows.map((_, row): UPlot.Series => {
    const stroke = colours.series[row] ?? colours.text;
    const isFilled = isStacked || row === 0;
    return {
      ...{ stroke, width: isStacked ? 0 : 2, points: { show: false } },
      ...(isFilled ? { fill: stroke } : { dash: [8, 5] }),
      ...(paths === undefined ? {} : { paths }),
    };
  });
  // The highest is drawn first, and each lower one over it.
  const [rows, drawnSeries] = isStacked
    ? [steps.rows.toReversed(), series.toReversed()]
    : [steps.rows, series];
  return {
    data: [[...steps.times], ...rows.map((row) => [...row])],
    options: {
      height,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: false, range: [0, Math.max(1, untilMs)] },
        y: { range: (_plot, _min, top) => [0, Math.max(1, top)] },
      },
      axes: [
        {
          ...axis,
          ...{ incrs: MARKS_MS, space: MARK_WIDTH_MIN, size: AXIS_HEIGHT },
          values: (_plot, marks) => marks.map((mark) => duration(mark)),
        },
        {
          ...axis,
          size: AXIS_WIDTH,
          values: (_plot, marks) =>
            marks.map((mark) => (Number.isInteger(mark) ? mark.toLocaleString() : '')),
        },
      ],
      series: [{}, ...drawnSeries],
      hooks: {
        setCursor: [
          (plot) => {
            const left = plot.cursor.left ?? -1;
            onPoint(left < 0 ? null : Math.round(plot.posToVal(left, 'x')));
          },
        ],
      },
    },
  };
}

function wordsOf(of: Simulation, atMs: number): string {
  const { counts, slots } = instantAt(of, atMs);
  const parts = STACK.toReversed()
    .filter((as) => counts[as] > 0)
    .map((as) => `${ACTIVITY_LABELS[as].toLowerCase()} ${counts[as].toLocaleString()}`);
  return [`After ${duration(atMs)}`, ...parts, `sandboxes ${slots.toLocaleString()}`].join(' · ');
}
