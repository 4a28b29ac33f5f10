/**
 * The type of a field of a row, from its value in the first row.
 * Owns which types there are, how findings call them, and what is said of a field that the first row lacks.
 */
import { didYouMean } from '../check/nearest-name.ts';
import type { FieldType, FieldTypes, FieldValue } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import type { RowProblem } from './row.ts';

const FIELD_WORDS: Readonly<Record<FieldType, string>> = {
  string: 'text',
  int: 'a number',
  double: 'a number',
  bool: 'true or false',
  dyn: 'a list, a map or null',
};

export function fieldTypeOf(value: FieldValue): FieldType {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
      return 'dyn';
  }
}

/** Where a row has not the fields of the first. */
export type Misfit = Pick<RowProblem, 'message' | 'remedy'>;

const SAME_FIELDS = 'every row has the same fields';

/** Nothing could use it, so that it would be lost in silence. */
export function furtherField(name: string, columns: FieldTypes): Misfit {
  const remedy = didYouMean(name, Object.keys(columns), SAME_FIELDS);
  return { message: `the first row has no field ${quote(name)}`, remedy };
}

export function missingField(name: string): Misfit {
  return { message: `this row has no field ${quote(name)}, and the first has`, remedy: SAME_FIELDS };
}

export function otherType(name: string, found: FieldType, first: FieldType): string {
  return `the field ${quote(name)} is ${FIELD_WORDS[found]} here, and ${FIELD_WORDS[first]} in the first row`;
}
