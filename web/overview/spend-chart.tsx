/**
 * Spend over time as stacked bars.
 * Owns the drawing, its colours from the style sheets, and what is said of the bar that the user points at; the same
 * figures stand in the tables below it.
 */
import { type ReactElement, useCallback, useMemo, useState } from 'react';
import UPlot from 'uplot';
import { coloursOf, type Drawn, Plot } from '../components/plot.tsx';
import { usd, usdOfNano } from '../text/money.ts';
import { groupLabel, type Spend, spendSeries, type SpendSeries } from './spend-series.ts';

const HEIGHT = 240;
const AXIS_WIDTH = 76;
const BAR_SHARE = 0.8;
const BAR_WIDTH_MAX = 60;

export function SpendChart({ spend }: { readonly spend: Spend }): ReactElement {
  const [pointed, setPointed] = useState<number | null>(null);
  // It is polled, and mostly stays the same.
  const text = JSON.stringify(spend);
  const series = useMemo(() => spendSeries(JSON.parse(text) as Spend), [text]);
  const draw = useCallback(
    (place: HTMLElement): Drawn => ({
      options: optionsOf({ place, spend: JSON.parse(text) as Spend, onPoint: setPointed }),
      data: dataOf(series),
    }),
    [text, series],
  );
  return (
    <div className="card chart">
      <Plot
        label={`Spend by ${spend.by}: ${usdOfNano(spend.total.cost_nano_usd)} in ${series.times.length} bars`}
        draw={draw}
      />
      <p className="hint">
        {pointed === null ? 'Point at a bar for its figures.' : wordsOf(spend, series, pointed)}
      </p>
    </div>
  );
}

/** The highest stack is drawn first, and each lower one over it. */
function dataOf({ times, stacked }: SpendSeries): UPlot.AlignedData {
  return [[...times], ...[...stacked].reverse().map((row) => [...row])];
}

interface Wanted {
  readonly place: HTMLElement;
  readonly spend: Spend;
  onPoint(at: number | null): void;
}

function optionsOf({ place, spend, onPoint }: Wanted): Drawn['options'] {
  const isDaily = spend.bucket_seconds >= 86_400;
  const half = spend.bucket_seconds / 2;
  const colours = coloursOf(
    place,
    spend.groups.map((_, at) => `series-${at}`),
  );
  const axis = { stroke: colours.text, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const bars = UPlot.paths.bars?.({ size: [BAR_SHARE, BAR_WIDTH_MAX] });
  return {
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    // Days begin in UTC, as they are summed; hours are those of the reader.
    tzDate: (seconds) =>
      isDaily ? UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') : new Date(seconds * 1_000),
    scales: { x: { time: true, range: (_plot, min, max) => [min - half, max + half] } },
    axes: [axis, { ...axis, size: AXIS_WIDTH, values: (_plot, ticks) => ticks.map((tick) => usd(tick)) }],
    series: [
      {},
      ...[...colours.series].reverse().map((colour) => ({
        ...{ stroke: colour, fill: colour, width: 0, points: { show: false } },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

function wordsOf(spend: Spend, { times, amounts }: SpendSeries, at: number): string {
  const begin = new Date((times[at] ?? 0) * 1_000);
  const when = spend.bucket_seconds >= 86_400 ? begin.toISOString().slice(0, 10) : begin.toLocaleString();
  const parts = spend.groups
    .map((group, place) => ({ label: groupLabel(group, spend.by), amount: amounts[place]?.[at] ?? 0 }))
    .filter(({ amount }) => amount > 0);
  const sum = parts.reduce((all, { amount }) => all + amount, 0);
  return [`${when}: ${usd(sum)}`, ...parts.map(({ label, amount }) => `${label} ${usd(amount)}`)].join(' · ');
}
