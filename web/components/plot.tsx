/**
 * A picture on a canvas, drawn anew when its place, the figures or the colours of the page change.
 * Owns the life of it, and the colours of the style sheets for a canvas, which knows no names of theirs; it is loaded by
 * what is loaded when it is opened.
 */
import { type ReactElement, useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { useTheme } from '../session/theme.ts';
import 'uplot/dist/uPlot.min.css';

export interface Drawn {
  /** Without the width, which is that of the place. */
  readonly options: Omit<UPlot.Options, 'width'>;
  readonly data: UPlot.AlignedData;
}

export interface PlotProps {
  /** What it shows, for those who cannot see it. */
  readonly label: string;
  /** Must keep its identity (useCallback): another one is another picture. */
  draw(place: HTMLElement): Drawn;
}

export function Plot({ label, draw }: PlotProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const [theme] = useTheme();
  const [isDark, setIsDark] = useState(() => darkWanted().matches);
  useEffect(() => {
    const wanted = darkWanted();
    const onChange = (): void => setIsDark(wanted.matches);
    wanted.addEventListener('change', onChange);
    return () => wanted.removeEventListener('change', onChange);
  }, []);
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const { options, data } = draw(place);
    const plot = new UPlot({ ...options, width: place.clientWidth }, data, place);
    const { height } = options;
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [draw, theme, isDark]);
  return <div ref={box} role="img" aria-label={label} />;
}

function darkWanted(): MediaQueryList {
  return globalThis.matchMedia('(prefers-color-scheme: dark)');
}

/** Axes and the given classes as the style sheets have them now. */
export function coloursOf(place: HTMLElement, names: readonly string[]) {
  const probe = document.createElement('span');
  place.append(probe);
  const colourOf = (name: string): string => {
    probe.className = name;
    return getComputedStyle(probe).color;
  };
  const found = {
    series: names.map(colourOf),
    text: colourOf('chart-text'),
    line: colourOf('chart-line'),
  };
  probe.remove();
  return found;
}
