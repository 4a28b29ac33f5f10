/**
 * What is wrong with an expression, in words and at its place.
 * Owns the wording; must not parse or check.
 */
import { didYouMean } from '../check/nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { ExpressionProblem } from './expression.ts';
import type { ExpressionScope } from './expression-scope.ts';
import { walk, type SyntaxNode } from './syntax.ts';

/** An error of the engine. */
export interface EngineFailure {
  readonly code: string;
  /** One line, in the words of the engine. */
  readonly summary: string;
  readonly range: { readonly start: number; readonly end: number } | null;
}

interface ProblemContext {
  readonly scope: ExpressionScope;
  readonly source: string;
  /** Null when there was no parse. */
  readonly root: SyntaxNode | null;
}

export function explainProblem(failure: EngineFailure, context: ProblemContext): ExpressionProblem {
  const place = placeOf(failure, context.source);
  switch (failure.code) {
    case 'unknown_variable':
      return { ...unknownVariable(failure, context), ...place };
    case 'no_such_key':
    case 'cannot_index_type':
    case 'invalid_index_type':
      return { ...unknownField(failure, context), ...place };
    case 'no_matching_overload':
      return { ...wrongCall(failure), ...place };
    case 'no_such_overload':
      return { ...wrongOperands(failure), ...place };
    case 'not_bool':
      return { ...noCondition(failure.summary), ...place };
    case 'not_text':
      return { ...noText(failure.summary), ...place };
    case 'invalid_macro_argument':
      return { ...badHas(), ...place };
    case 'limit_exceeded':
      return { kind: 'size', message: 'the expression is too large', remedy: 'split it in two', ...place };
    case 'unterminated_string':
      return {
        kind: 'syntax',
        message: 'the text is never closed',
        remedy: 'add the closing quote',
        ...place,
      };
    case 'expected_token':
      return { ...missing(failure), ...place };
    case 'invalid_logical_operand':
    case 'invalid_condition_type':
      return { ...noBool(failure), ...place };
    case 'unexpected_token':
    case 'unexpected_character':
      return { ...unexpected(failure, context.source), ...place };
    default:
      return {
        kind: context.root === null ? 'syntax' : 'type',
        message: plain(failure.summary),
        remedy: null,
        ...place,
      };
  }
}

type Words = Pick<ExpressionProblem, 'kind' | 'message' | 'remedy'>;

/** At the end of the source there is nothing to underline, so its last character is. */
function placeOf({ range }: EngineFailure, source: string): { start: number; end: number } {
  if (range === null) return { start: 0, end: source.length };
  const start = Math.max(0, Math.min(range.start, source.length - 1));
  return { start, end: Math.max(start + 1, Math.min(range.end, source.length)) };
}

function unknownVariable({ summary }: EngineFailure, { scope }: ProblemContext): Words {
  const name = summary.slice(summary.indexOf(': ') + 2);
  const known = Object.keys(scope.variables);
  const remedy = didYouMean(name, known, `${scope.knows}; text stands in quotes: '${name}'`);
  return { kind: 'name', message: `unknown name ${quote(name)}`, remedy };
}

function unknownField(failure: EngineFailure, { root, source, scope }: ProblemContext): Words {
  const receiver = receiverAt(failure, root);
  const type = scope.records.find(({ name }) => name === receiver?.checkedType?.name);
  const { start, end } = placeOf(failure, source);
  const field = source.slice(start, end);
  if (type === undefined) {
    const found = plain(receiver?.checkedType?.name ?? 'value');
    const list = found.startsWith('list');
    const remedy = list ? 'ask for its members with all, exists or filter' : null;
    return { kind: 'type', message: `${spoken(found)} has no fields`, remedy };
  }
  const fields = Object.keys(type.fields);
  const remedy = didYouMean(field, fields, `its fields are ${fields.join(', ')}`);
  return { kind: 'name', message: `unknown field ${quote(field)} of ${type.spoken}`, remedy };
}

/** What the field was asked of: the innermost access that ends where the problem does. */
function receiverAt({ range }: EngineFailure, root: SyntaxNode | null): SyntaxNode | null {
  if (root === null || range === null) return null;
  let found: SyntaxNode | null = null;
  for (const { node } of walk(root)) {
    if ((node.op !== '.' && node.op !== '[]') || node.end < range.end || node.start > range.start) continue;
    found = (node.args as [SyntaxNode, unknown])[0];
  }
  return found;
}

function wrongCall({ summary }: EngineFailure): Words {
  const signature = plain(/'(.*)'/.exec(summary)?.[1] ?? summary);
  const name = /([A-Za-z_]+)\(/.exec(signature)?.[1] ?? '';
  return { kind: 'type', message: `${quote(name)} does not take this: ${signature}`, remedy: null };
}

function wrongOperands({ summary }: EngineFailure): Words {
  const operation = plain(summary.replace('no such overload: ', ''));
  const types = new Set(operation.split(/[^a-z]+/i));
  let remedy: string | null = null;
  if (types.has('duration') && (types.has('int') || types.has('double') || types.has('string')))
    remedy = "write a length of time as duration('14h')";
  else if (types.has('double') && types.has('int'))
    remedy = 'write the whole number with a point, such as 350.0';
  else if (types.has('string') && types.has('int'))
    remedy = 'a number stands without quotes, a text with them';
  return { kind: 'type', message: `this is not defined: ${operation}`, remedy };
}

function noCondition(type: string): Words {
  const remedy = type === 'dyn' ? 'compare it with a value' : `compare it, such as with == or >=`;
  const found = type === 'dyn' ? 'what this gives is not known' : `this gives ${spoken(plain(type))}`;
  return { kind: 'type', message: `a condition is true or false; ${found}`, remedy };
}

function noText(type: string): Words {
  const remedy = 'take one member of it, or join(…) a list of text';
  const message = `text is filled with text, a number, true or false; this gives ${spoken(plain(type))}`;
  return { kind: 'type', message, remedy };
}

/** `Expected RPAREN, got EOF` */
function missing({ summary }: EngineFailure): Words {
  const wanted = TOKENS[/Expected (\w+)/.exec(summary)?.[1] ?? ''];
  const message = wanted === undefined ? 'something is missing here' : `${quote(wanted)} is missing here`;
  return { kind: 'syntax', message, remedy: null };
}

const TOKENS: Readonly<Record<string, string>> = {
  RPAREN: ')',
  RBRACKET: ']',
  RBRACE: '}',
  COLON: ':',
  COMMA: ',',
};

function badHas(): Words {
  const remedy = "ask for a field of a map, such as has(item.tags.team), or write 'team' in item.tags";
  return { kind: 'type', message: '"has" takes the field of a map', remedy };
}

function noBool({ summary }: EngineFailure): Words {
  const type = spoken(plain(/got '(.*)'/.exec(summary)?.[1] ?? 'another value'));
  const remedy = 'compare it, such as with == or >=';
  return { kind: 'type', message: `what is joined or asked here is true or false, not ${type}`, remedy };
}

function unexpected({ summary, range }: EngineFailure, source: string): Words {
  const ended = range === null || range.start >= source.length;
  if (ended) return { kind: 'syntax', message: 'the expression ends too early', remedy: 'complete it' };
  const found = source.slice(range.start, Math.max(range.end, range.start + 1));
  const single = found === '=' && !summary.includes('==');
  const near = source.slice(range.start, range.start + 3);
  const both = single
    ? 'equal is written =='
    : WORD_OPERATORS[/^(?:and|or|not)\b/i.exec(near)?.[0].toLowerCase() ?? ''];
  return { kind: 'syntax', message: `${quote(found)} cannot stand here`, remedy: both ?? null };
}

const WORD_OPERATORS: Readonly<Record<string, string>> = {
  and: '"and" is written &&',
  or: '"or" is written ||',
  not: '"not" is written !',
};

/** Types in the words of the language: the engine spells those of time in full. */
function plain(text: string): string {
  return text.replaceAll(/google\.protobuf\.(\w+)/g, (_, name: string) => name.toLowerCase());
}

function spoken(type: string): string {
  const [name = type] = type.split('<');
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`;
}
