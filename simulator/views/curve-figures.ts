/**
 * The curves of a play as figures: capacity, cost, conversations by activity.
 * Owns the paths; the points are data of curves.ts.
 */
import { counted } from '../../core/text/counted.ts';
import { usdWords } from '../../report/report-words.ts';
import type { Activity } from '../plan-timeline.ts';
import { chart, shareY, timeX, type TimeSpan, coordinate } from './chart.ts';
import type { CurvePoint, Curves } from './curves.ts';

const HEIGHT = 150;

/** From below: what is done lies at the bottom, what waits on top. */
export const STACK: readonly Activity[] = ['ended', 'working', 'paused', 'starting', 'queued'];

export function capacityFigure({ slots, slotsMax }: Curves, span: TimeSpan): string {
  const peak = Math.max(0, ...slots.map(({ value }) => value));
  // A limit far above what is used would press the curve to the ground; then a sentence says it instead.
  const showsLimit = slotsMax <= Math.max(1, peak) * 4;
  const top = Math.max(1, showsLimit ? Math.max(peak, slotsMax) : peak);
  const y = (value: number): number => shareY(HEIGHT, value / top);
  const limit = coordinate(y(slotsMax));
  return chart(
    {
      id: 'capacity',
      title: `Capacity: sandboxes that hold a slot, ${peak} at most of ${slotsMax} allowed`,
      description: `At most ${peak} of ${slotsMax} slots are held at once.`,
      span,
      height: HEIGHT,
      ticks: ticksUpTo(top, String),
    },
    [
      area(steps(slots, span), span, y, 'slots'),
      ...(showsLimit
        ? [
            `<line class="limit" x1="${coordinate(timeX(span, span.from))}" x2="${coordinate(timeX(span, span.until))}" y1="${limit}" y2="${limit}"><title>${slotsMax} slots allowed</title></line>`,
          ]
        : []),
    ],
  );
}

export function costFigure({ costNanoUsd }: Curves, span: TimeSpan): string {
  const total = costNanoUsd.at(-1)?.value ?? 0;
  const top = Math.max(1, total);
  const y = (value: number): number => shareY(HEIGHT, value / top);
  const inside = costNanoUsd.filter(({ at }) => at <= span.until);
  return chart(
    {
      id: 'cost',
      title: `Cost: ${usdWords(total)} in all`,
      description: `The spend grows to ${usdWords(total)}.`,
      span,
      height: HEIGHT,
      ticks: ticksUpTo(top, usdWords),
    },
    [area([...inside, { at: span.until, value: inside.at(-1)?.value ?? 0 }], span, y, 'cost')],
  );
}

export function statusFigure({ activities }: Curves, span: TimeSpan): string {
  const all = activities.reduce(
    (most, point) =>
      Math.max(
        most,
        STACK.reduce((sum, as) => sum + point[as], 0),
      ),
    1,
  );
  const y = (value: number): number => shareY(HEIGHT, value / all);
  const upTo = (index: number): CurvePoint[] =>
    activities.map((point) => ({
      at: point.at,
      value: STACK.slice(0, index).reduce((sum, as) => sum + point[as], 0),
    }));
  return chart(
    {
      id: 'status',
      title: `Status: ${counted(all, 'conversation')} by what they do`,
      description: 'Stacked from below: ended, working, paused, starting, queued.',
      span,
      height: HEIGHT,
      ticks: ticksUpTo(all, String),
    },
    STACK.map((as, index) => {
      const above = corners(steps(upTo(index + 1), span), span, y);
      const below = corners(steps(upTo(index), span), span, y).reverse();
      return `<path class="${as}" d="M${[...above, ...below].join('L')}Z"><title>${as}</title></path>`;
    }),
  );
}

function ticksUpTo(top: number, text: (value: number) => string) {
  const middle = top / 2;
  return [
    { share: 0, text: text(0) },
    ...(Number.isInteger(middle) || top > 100 ? [{ share: 0.5, text: text(Math.round(middle)) }] : []),
    { share: 1, text: text(top) },
  ];
}

/** A step function as corners: every value holds until the next one. */
function steps(points: readonly CurvePoint[], { from, until }: TimeSpan): CurvePoint[] {
  const inside = points.filter(({ at }) => at <= until);
  const corner = inside.flatMap((point, index) => {
    const before = inside[index - 1]?.value ?? 0;
    return [{ at: Math.max(from, point.at), value: before }, point];
  });
  return [...corner, { at: until, value: inside.at(-1)?.value ?? 0 }];
}

function corners(points: readonly CurvePoint[], span: TimeSpan, y: (value: number) => number): string[] {
  return points.map(({ at, value }) => `${coordinate(timeX(span, at))} ${coordinate(y(value))}`);
}

/** The curve, and the space below it in a lighter shade. */
function area(
  points: readonly CurvePoint[],
  span: TimeSpan,
  y: (value: number) => number,
  name: string,
): string {
  const line = corners(points, span, y);
  const ground = coordinate(y(0));
  const [left, right] = [coordinate(timeX(span, span.from)), coordinate(timeX(span, span.until))];
  return [
    `<path class="${name} below" d="M${left} ${ground}L${line.join('L')}L${right} ${ground}Z"/>`,
    `<path class="${name} line" d="M${line.join('L')}"/>`,
  ].join('\n');
}
