/**
 * Every rule a job or scenario file is held to: code, severity, title, explanation. docs/diagnostics.md says the same at length.
 * Owns the list; must not own a check. 1xx text and YAML, 2xx schema, 3xx references, 4xx interpolation and expressions, 5xx lint.
 * JOB rules that make sense in a scenario hold there as well; SCN rules are those of scenarios alone.
 * A code is never given a second meaning; a rule that is dropped leaves a gap.
 */
import { error, warning, type Rule } from '../rule.ts';
import { SCENARIO_RULES } from '../scenario-rules.ts';

/** Every rule by its code. */
export const RULE_CATALOGUE = {
  // Text and YAML
  JOB101: error('not UTF-8', 'The file holds bytes that are not UTF-8 text. Save it as UTF-8.'),
  JOB102: error(
    'binary file',
    'The file holds NUL bytes, so it is not text. Usually the path names the wrong file.',
  ),
  JOB103: error('UTF-16 file', 'The file is stored as UTF-16 or UTF-32. Files are UTF-8.'),
  JOB104: error('file too large', 'The file is larger than 10 MiB and is refused before it is parsed.'),
  JOB105: error('empty file', 'The file holds nothing but blank space and comments.'),
  JOB106: error(
    'several documents',
    'The file holds more than one YAML document. One file is one job or one scenario.',
  ),
  JOB107: error('tab in indentation', 'YAML indents with spaces; a tab has no defined width.'),
  JOB108: error('YAML syntax', 'The text is not YAML.'),
  JOB109: error('duplicate key', 'A map names the same key twice, so one of the values would be lost.'),
  JOB110: error('indentation', 'A line is indented deeper or less deep than the lines it belongs with.'),
  JOB111: error('not closed', 'A quote, bracket or brace is opened and never closed.'),
  JOB112: error('quotes needed', 'A value without quotes holds characters that mean something else in YAML.'),
  JOB113: error(
    'merge key',
    'The merge key "<<" is not part of YAML 1.2. Shared settings belong under "defaults".',
  ),
  JOB114: error('tag', 'YAML tags ("!word") are not part of the language.'),
  JOB115: error(
    'unknown anchor',
    'An alias names an anchor that is not defined before it, or that contains it.',
  ),
  JOB116: error(
    'aliases grow too large',
    'Aliases of aliases multiply: the file would grow beyond its bound.',
  ),
  JOB117: error('key is not text', 'A key is a list, a map, empty or a reserved word.'),
  JOB118: error(
    'braces need quotes',
    'Text with "{{" stands without quotes where YAML reads braces as a map.',
  ),
  JOB119: error('nested too deeply', 'The file nests deeper than any file needs.'),
  JOB120: error('more findings', 'More findings than are shown. Correct the first ones and check again.'),
  JOB121: error(
    'lone carriage return',
    'A carriage return stands without a line feed: YAML reads it as a line break, most editors as none. Write lines that end with LF or CRLF.',
  ),
  // Schema
  JOB201: error('unknown key', 'The key is not part of the language at this place.'),
  JOB202: error('missing key', 'A required key is absent.'),
  JOB203: error('wrong type', 'The value has another type than the key takes.'),
  JOB204: error('unknown word', 'The value is not one of the words the key takes.'),
  JOB205: error('out of bounds', 'A number, or the length of a list or text, is outside its bounds.'),
  JOB206: error(
    'bad duration',
    'A duration is digits with the units d, h, m, s in this order, such as 11h30m.',
  ),
  JOB207: error('bad amount', 'An amount is a plain decimal number of USD, such as 2.50.'),
  JOB208: error('bad name', 'A name holds characters that are not allowed for it.'),
  JOB209: error(
    'text lost',
    'YAML reads the value as a number or nothing, and the text as written would be lost.',
  ),
  JOB210: error(
    'limit of the deployment',
    'Idle time, deletion time and session length are not set by a job (D10): the first two belong to the deployment, the session length is a constant of 12 hours.',
  ),
  JOB211: error(
    'wrong kind or version',
    'The file is not a job or a scenario of a version that this compiler reads.',
  ),
  JOB212: error(
    'bad tag',
    'Tag keys are lower-case letters and digits; values have at most 256 characters (D21).',
  ),
  JOB213: error('bad path', 'A path is absolute, leaves its folder, or is not a plain file name.'),
  JOB214: error('bad repository', 'A repository is written owner/name; a branch is a valid Git branch name.'),
  JOB215: error('keys in conflict', 'Two keys say the same thing, or one key is of no use without another.'),
  JOB216: error(
    'name not permitted',
    'The name of a secret is reserved or is not the name of an environment variable (D20).',
  ),
  JOB217: error('no value', 'A key stands without a value.'),
  JOB218: error(
    'secret in clear',
    'A job refers to secrets by name; the value itself never stands in the file (D20).',
  ),
  JOB219: error(
    'no schedule',
    'A cron expression of the schedule cannot be read, or its time zone is not known.',
  ),
  // References
  JOB301: error('duplicate id', 'Two conversations have the same id, or two scores of one the same name.'),
  JOB302: error('unknown secret', 'A conversation uses a secret that the job does not declare.'),
  JOB303: error('file missing', 'A file that the job names does not exist.'),
  JOB304: error('empty prompt', 'A prompt holds nothing but blank space.'),
  JOB305: error('file unreadable', 'A file that the job names is no plain file, too large, or not text.'),
  JOB306: error(
    'duplicate key of items',
    'Two conversations have the same key after expansion; upper and lower case count as equal.',
  ),
  JOB307: error('exclude matches nothing', 'An entry of "exclude" matches no combination of the matrix.'),
  JOB308: error('matrix is empty', 'Every combination of a matrix is excluded.'),
  JOB309: error('unknown axis', 'An entry of "exclude" or "include" does not fit the axes of the matrix.'),
  JOB310: error(
    'combination exists',
    'An axis value is listed twice, or "include" adds a combination that exists.',
  ),
  JOB311: error('too many conversations', 'The job expands to more conversations than one plan may hold.'),
  JOB312: error('duplicate report', 'Two reports would be written to one file.'),
  JOB313: error('secret not found', 'A declared secret does not exist where the job says it is.'),
  JOB314: error('input without value', 'An input has no default, and no value was given for it.'),
  JOB315: error(
    'value does not fit',
    'The value or default of an input is not of its type, out of its bounds, or not one of its words.',
  ),
  JOB316: error('unknown input', 'A value is given for an input that the job does not declare.'),
  JOB317: error(
    'bad data file',
    'A data file has no header, names a column twice, has no rows, or "items" has not exactly one of "csv", "jsonl", "glob" and "list".',
  ),
  JOB318: error(
    'bad row',
    'A row of a data file, or of a list, does not have the columns of the others, or cannot be read. The finding names the line.',
  ),
  JOB319: error('no rows left', 'The condition of "items" leaves out every row.'),
  JOB320: error('chain of files', 'Files build on each other in a circle, or in too long a chain.'),
  JOB321: error('extends nothing', 'An entry of "extend" matches no conversation.'),
  JOB322: error(
    'prompt variable',
    'A prompt file names a variable that "vars" does not have, or "vars" has one that the file does not name.',
  ),
  JOB323: error('plan too large', 'The conversations have more characters than a store holds in one plan.'),
  JOB324: error('no file matches', 'No file matches a pattern of "items" that must not be empty.'),
  JOB325: error('nothing to append to', 'An entry of "append" is no list of the file that is extended.'),
  JOB326: error('issues unread', 'A code host does not give the issues that the job asks it for.'),
  JOB327: error(
    'no issue matches',
    'No issue is left of those that "items" asks for and that must not be none.',
  ),
  JOB331: error('unknown stage', 'An entry of "needs" names a conversation that the job does not have.'),
  JOB332: error(
    'stages in a circle',
    'Conversations wait for each other along "needs", so none of them could ever start.',
  ),
  JOB333: error(
    'price not known',
    'A budget or a limit in USD counts on a model whose price neither parley.yaml nor the public list says (D30).',
  ),
  // Interpolation
  JOB401: error('not closed', 'An interpolation opens with "${{" and is not closed with "}}".'),
  JOB402: error('unknown axis', 'An interpolation names an axis that the matrix does not have.'),
  JOB403: error(
    'not available here',
    'An interpolation is empty, or uses a name that exists at another place or only once the run goes on.',
  ),
  JOB404: error('not interpolated', 'The key takes fixed text; interpolation is not available here.'),
  JOB405: error('bad result', 'After interpolation the text is not valid for its key.'),
  JOB406: error(
    'unknown name',
    'An expression uses an input, column, field, variable or function that does not exist.',
  ),
  JOB407: error(
    'wrong type',
    'An expression joins values of types that do not fit, or gives something its place cannot take.',
  ),
  JOB408: error('expression syntax', 'The text is not an expression of the Common Expression Language.'),
  JOB409: error('impossible value', 'An expression holds a text that is no duration.'),
  JOB410: error('expression too large', 'An expression is longer, deeper or more nested than is read.'),
  JOB411: error('expression fails', 'An expression cannot be evaluated for a conversation or a row.'),
  // Lint
  JOB501: warning(
    'deadline beyond the session',
    'A deadline of 12 hours or more is longer than a session can run.',
  ),
  JOB502: warning('unused secret', 'A secret is declared and never used.'),
  JOB503: warning('unknown model', 'The proxy does not list the model.'),
  JOB504: warning(
    'word read as a switch',
    'Other YAML readers take an unquoted yes, no, on or off as true or false.',
  ),
  JOB505: warning('prompt looks like a path', 'An inline prompt is one word that looks like a file name.'),
  JOB506: warning(
    'unused axis',
    'A matrix axis changes nothing but the key, so its conversations are copies.',
  ),
  JOB507: warning(
    'limit never reached',
    'A limit is at least as large as another one that ends the conversation first.',
  ),
  JOB508: warning(
    'budget holds nothing back',
    'The budget is enforced, but nothing says what one conversation may cost.',
  ),
  JOB509: warning(
    'retry never used',
    'A failure class stands in an earlier rule already, and the first rule wins.',
  ),
  JOB510: warning('strategy has no effect', 'An explicit sandbox overrides the placement strategy (D16).'),
  JOB511: warning(
    'end not awaited',
    'A conversation that ends in a status that is not awaited waits for its deadline.',
  ),
  JOB512: warning('unused input', 'An input is declared and never used.'),
  JOB513: warning('always the same', 'A condition depends on nothing, so it takes all or none.'),
  JOB514: warning(
    'same prompt twice',
    'Two conversations ask for the same thing of the same model on the same repository.',
  ),
  JOB515: warning(
    'schedule never fires',
    'No month that the schedule names has the day that it names, so the job never runs by itself.',
  ),
  JOB516: warning(
    'more at once than places',
    'The pool has fewer places than conversations may be in flight, and lets no more of them begin.',
  ),
  JOB517: warning(
    'age beyond the session',
    'A sandbox of the pool is recycled at an age of 12 hours or more: its session ends before, and cuts off who works in it.',
  ),
  JOB518: warning('directive passed over', 'The file has a "%" directive that YAML passes over.'),
  ...SCENARIO_RULES,
} as const satisfies Record<string, Rule>;

export type RuleCode = keyof typeof RULE_CATALOGUE;
