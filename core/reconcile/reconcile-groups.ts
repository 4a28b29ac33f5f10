/**
 * How costs are distributed: amounts and unbilled calls by model, user, team and tag.
 * Owns the grouping, each list of which sums to the totals; must not decide what becomes of a row.
 */
import type {
  ReconcileBreakdown,
  ReconcileConversation,
  ReconcileGroup,
  RowVerdict,
} from './reconcile-result.ts';
import { addSums, compareSums, ExactSum, type UsdSum } from '../money/usd-sum.ts';

/** Names in one list: a gateway that numbers its users must not fill the memory. */
export const GROUPS_MAX = 10_000;
/** Tags by which amounts are grouped; a conversation has a handful. */
export const GROUPED_TAGS_MAX = 50;
/** The name of everything beyond GROUPS_MAX; no user, team or model is called so. */
export const OTHER_GROUPS = '(others)';

/** Where a row or a call belongs; null where neither side names it. */
export interface Place {
  readonly model: string;
  readonly user: string | null;
  readonly team: string | null;
  /** Position of the conversation; null when it is not assigned. */
  readonly owner: number | null;
}

/** Of one name, while rows come. */
interface Counting {
  readonly name: string | null;
  rows: number;
  unpriced: number;
  unbilledCalls: number;
  readonly assigned: ExactSum;
  readonly ambiguous: ExactSum;
  readonly unassigned: ExactSum;
}

export class Groups {
  private readonly conversations: readonly ReconcileConversation[];
  private readonly models = new GroupList();
  private readonly users = new GroupList();
  private readonly teams = new GroupList();
  private readonly tags: readonly { readonly key: string; readonly list: GroupList }[];
  /** By conversation, once it has a row or call: where its tags belong never changes. */
  private readonly tagged: (readonly Counting[] | undefined)[] = [];

  constructor(conversations: readonly ReconcileConversation[]) {
    this.conversations = conversations;
    const keys = new Set<string>();
    for (const { tags } of conversations) {
      for (const key of Object.keys(tags)) if (keys.size < GROUPED_TAGS_MAX) keys.add(key);
    }
    this.tags = [...keys].sort().map((key) => ({ key, list: new GroupList() }));
  }

  addRow(place: Place, verdict: RowVerdict, isUnpriced: boolean): void {
    const { kind, cost } = verdict;
    for (const group of this.groupsOf(place)) {
      group.rows += 1;
      if (isUnpriced) group.unpriced += 1;
      group[kind].add(cost);
    }
  }

  addUnbilled(place: Place): void {
    for (const group of this.groupsOf(place)) group.unbilledCalls += 1;
  }

  private groupsOf({ model, user, team, owner }: Place): readonly Counting[] {
    return [
      this.models.of(model),
      this.users.of(user),
      this.teams.of(team),
      ...(owner === null ? this.tagGroups({}) : this.tagGroupsOf(owner)),
    ];
  }

  private tagGroupsOf(owner: number): readonly Counting[] {
    return (this.tagged[owner] ??= this.tagGroups(this.conversations[owner]?.tags ?? {}));
  }

  private tagGroups(own: ReconcileConversation['tags']): readonly Counting[] {
    return this.tags.map(({ key, list }) => list.of(own[key] ?? null));
  }

  breakdown(): ReconcileBreakdown {
    return {
      byModel: this.models.sorted(),
      byUser: this.users.sorted(),
      byTeam: this.teams.sorted(),
      byTag: Object.fromEntries(this.tags.map(({ key, list }) => [key, list.sorted()])),
    };
  }
}

class GroupList {
  private readonly byName = new Map<string | null, Counting>();

  of(name: string | null): Counting {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    if (this.byName.size >= GROUPS_MAX && name !== OTHER_GROUPS) return this.of(OTHER_GROUPS);
    const made = emptyGroup(name);
    this.byName.set(name, made);
    return made;
  }

  sorted(): readonly ReconcileGroup[] {
    return [...this.byName.values()]
      .map((group) => ({
        ...group,
        assigned: group.assigned.written(),
        ambiguous: group.ambiguous.written(),
        unassigned: group.unassigned.written(),
      }))
      .sort((a, b) => compareSums(amountOf(b), amountOf(a)) || compareNames(a.name ?? '', b.name ?? ''));
  }
}

function emptyGroup(name: string | null): Counting {
  return {
    name,
    rows: 0,
    unpriced: 0,
    assigned: new ExactSum(),
    ambiguous: new ExactSum(),
    unassigned: new ExactSum(),
    unbilledCalls: 0,
  };
}

function amountOf({ assigned, ambiguous, unassigned }: ReconcileGroup): UsdSum {
  return addSums(assigned, ambiguous, unassigned);
}

/** By code units: the order must not depend on the machine's language. */
function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
