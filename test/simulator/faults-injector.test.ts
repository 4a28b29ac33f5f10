/** When a fault counts as struck: at its opportunity, or, when it shows later, the moment it shows. */
import { describe, expect, it } from 'vitest';
import { Injector, NO_FAULTS, type FaultSource } from '../../simulator/faults/injector.ts';
import { RandomStream } from '../../simulator/random.ts';

const SURE: FaultSource = { kind: 'mix', mix: { runtime_killed: 1 } };
const BOOT = { where: 's/1', about: { machine: 'sandbox', id: 's' }, at: 5 } as const;
const injectorOf = (source: FaultSource) => new Injector(source, new RandomStream(7), null);

describe('a fault', () => {
  it('is recorded at its opportunity when it shows at once', () => {
    const injector = injectorOf(SURE);
    expect(injector.strikes('runtime_killed', BOOT)).not.toBeNull();
    expect(injector.injected).toMatchObject([{ fault: 'runtime_killed', where: 's/1', at: 5 }]);
  });

  it('is recorded when it shows, and never when it does not', () => {
    const injector = injectorOf(SURE);
    const planned = injector.plans('runtime_killed', BOOT);
    injector.plans('runtime_killed', { ...BOOT, where: 's/2' });
    expect(injector.injected).toEqual([]);
    planned?.strike(9);
    expect(injector.injected).toMatchObject([{ where: 's/1', at: 9, entity: 'sandbox/s' }]);
  });

  it('has the same figures whether it shows at once or later, so that a schedule plays it again', () => {
    const at = injectorOf(SURE).strikes('runtime_killed', BOOT);
    const later = injectorOf({ kind: 'schedule', keys: new Set(['runtime_killed@s/1']) });
    expect(later.plans('runtime_killed', BOOT)?.figures.next()).toBe(at?.next());
  });

  it('shows later by chance only: a wish is about what an entity is in now', () => {
    const injector = injectorOf(NO_FAULTS);
    injector.aim(() => true);
    expect(injector.plans('runtime_killed', BOOT)).toBeNull();
    expect(injector.strikes('runtime_killed', BOOT)).not.toBeNull();
    injector.heal();
    expect(injector.strikes('runtime_killed', BOOT)).toBeNull();
  });
});
