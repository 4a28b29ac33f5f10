/**
 * A source as a positioned tree in long form: the passes that every language of ours begins with.
 * Owns their order; each pass is in a file of its own.
 */
import type { z } from 'zod';

import { decodeSource, type JobSource } from './decode-source.ts';
import type { Language } from '../language.ts';
import { normalise } from './normalise.ts';
import { parseYaml } from './parse-yaml.ts';
import { createReport, type Report } from '../check/report.ts';
import { addSchemaProblems, addUnknownKey } from '../check/schema-problems.ts';
import { toValue, type Tree } from './tree.ts';

interface ReadDocument {
  readonly report: Report;
  /** In long form; null when the text has no tree that is worth checking, and the report says why. */
  readonly root: Tree | null;
}

/** A pass over the tree as it is written, before it is held to the schema; null ends the reading. */
type WrittenPass = (written: Tree, report: Report) => Tree | null;

export function readDocument(source: JobSource, language: Language, pass?: WrittenPass): ReadDocument {
  const decoded = decodeSource(source.text, language.document);
  if (!decoded.ok) {
    const report = createReport(source.path, '\n'.repeat(decoded.line - 1), language);
    const start = decoded.line - 1;
    report.add(decoded.code, { start, end: start }, decoded.message, { remedy: decoded.remedy });
    return { report, root: null };
  }
  const report = createReport(source.path, decoded.text, language);
  return { report, root: readTree(report, pass) };
}

function readTree(report: Report, pass: WrittenPass = (written) => written): Tree | null {
  const { language } = report;
  const written = parseYaml(report);
  if (written === null) return null;
  if (written.kind !== 'map') {
    report.add('JOB203', written.span, `a ${language.document} is a map of keys`, { remedy: language.head });
    return null;
  }
  const passed = pass(written, report);
  return passed === null ? null : toLongForm(passed, report);
}

function toLongForm(written: Tree, report: Report): Tree {
  return normalise(written, report.language.schema, {
    report,
    at: [],
    unknownKey: (entry, at, allowed) =>
      addUnknownKey({ entry, at, allowed, emptySiblings: [] }, { missing: [], report }),
  });
}

/** The tree as the schema types it; null when it does not fit, and the report says where. */
export function checkSchema<Schema extends z.ZodType>(
  root: Tree,
  schema: Schema,
  report: Report,
): z.infer<Schema> | null {
  const result = schema.safeParse(toValue(root));
  if (!result.success) addSchemaProblems(result.error.issues, root, report);
  return result.success ? result.data : null;
}
