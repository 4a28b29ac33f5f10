/**
 * Spend over time as stacked bars.
 * Owns the drawing, its colours from the style sheets, and what is said of the bar that somebody points at; the same
 * figures stand in the tables below it.
 */
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '../session/theme.ts';
import { usd, usdOfNano } from '../text/money.ts';
import { groupLabel, spendSeries, type Spend, type SpendSeries } from './spend-series.ts';

const HEIGHT = 240;
const AXIS_WIDTH = 76;
const BAR_SHARE = 0.8;
const BAR_WIDTH_MAX = 60;

export function SpendChart({ spend }: { readonly spend: Spend }): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const [theme] = useTheme();
  const [isDark, setIsDark] = useState(() => darkWanted().matches);
  const [pointed, setPointed] = useState<number | null>(null);
  // It is asked for again and again, and mostly says the same.
  const text = JSON.stringify(spend);
  const series = useMemo(() => spendSeries(JSON.parse(text) as Spend), [text]);
  useEffect(() => {
    const wanted = darkWanted();
    const onChange = (): void => setIsDark(wanted.matches);
    wanted.addEventListener('change', onChange);
    return () => wanted.removeEventListener('change', onChange);
  }, []);
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const drawn = JSON.parse(text) as Spend;
    const plot = new UPlot(optionsOf({ place, spend: drawn, onPoint: setPointed }), dataOf(series), place);
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [text, series, theme, isDark]);
  return (
    <div className="card chart">
      <div
        ref={box}
        role="img"
        aria-label={`Spend by ${spend.by}: ${usdOfNano(spend.total.cost_nano_usd)} in ${series.times.length} bars`}
      />
      <p className="hint">
        {pointed === null ? 'Point at a bar for its figures.' : wordsOf(spend, series, pointed)}
      </p>
    </div>
  );
}

function darkWanted(): MediaQueryList {
  return globalThis.matchMedia('(prefers-color-scheme: dark)');
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

function optionsOf({ place, spend, onPoint }: Wanted): UPlot.Options {
  const isDaily = spend.bucket_seconds >= 86_400;
  const half = spend.bucket_seconds / 2;
  const colours = coloursOf(place, spend.groups.length);
  const axis = { stroke: colours.text, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const bars = UPlot.paths.bars?.({ size: [BAR_SHARE, BAR_WIDTH_MAX] });
  return {
    width: place.clientWidth,
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

/** As the style sheets have them now: a canvas knows no names of theirs. */
function coloursOf(place: HTMLElement, count: number) {
  const probe = document.createElement('span');
  place.append(probe);
  const colourOf = (name: string): string => {
    probe.className = name;
    return getComputedStyle(probe).color;
  };
  const series = Array.from({ length: count }, (_, at) => colourOf(`series-${at}`));
  const found = { series, text: colourOf('chart-text'), line: colourOf('chart-line') };
  probe.remove();
  return found;
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
