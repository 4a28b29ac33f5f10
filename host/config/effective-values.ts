/**
 * The value of every setting and where it comes from: environment over file over default; of files the first that says something.
 * Owns the precedence and the reading of variables; must not turn values into a deployment.
 */
import { z } from 'zod';
import { treeAt } from '../../dsl/read/tree.ts';
import { placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import { bare, schemaAt } from './schema/key-paths.ts';
import type { Problem } from './problem.ts';
import { wordIssue } from './schema-problems.ts';
import { secondsOf } from './schema/seconds.ts';
import { SETTINGS, type Setting, type SettingPath, type SettingValue } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that holds, and where it comes from. */
export interface EffectiveValue {
  readonly path: string;
  readonly value: SettingValue;
  /** `default`, `FILE:LINE` or `env NAME`. */
  readonly origin: string;
  readonly source: 'default' | 'file' | 'env';
}

export interface EffectiveValues {
  readonly values: readonly EffectiveValue[];
  readonly problems: readonly Problem[];
}

/** An empty variable counts as not set, as in a shell script that passes one on. */
export function effectiveValues(
  files: readonly (DeploymentFile | null)[],
  env: Environment,
): EffectiveValues {
  const problems: Problem[] = [];
  const values = SETTINGS.map((setting: Setting): EffectiveValue => {
    const text = env[setting.env];
    if (text !== undefined && text !== '') {
      const read = readVariable(setting, text);
      if ('problem' in read) problems.push(read.problem);
      else return { path: setting.path, value: read.value, origin: `env ${setting.env}`, source: 'env' };
    }
    for (const file of files) {
      const value = fromFile(setting, file);
      if (value !== null) return value;
    }
    return fallback(setting);
  });
  return { values, problems };
}

export function valueOf(values: readonly EffectiveValue[], path: SettingPath): EffectiveValue {
  const found = values.find((one) => one.path === path);
  if (found === undefined) throw new Error(`Cannot find the setting "${path}": it has no value`);
  return found;
}

/** As text; empty where nothing is set. */
export function textOf(values: readonly EffectiveValue[], path: SettingPath): string {
  return String(valueOf(values, path).value);
}

export function numberOf(values: readonly EffectiveValue[], path: SettingPath): number {
  return Number(valueOf(values, path).value);
}

function fallback({ path, fallback: value }: Setting): EffectiveValue {
  return { path, value, origin: 'default', source: 'default' };
}

function fromFile(setting: Setting, file: DeploymentFile | null): EffectiveValue | null {
  const at = setting.path.split('.');
  const tree = treeAt(file?.tree ?? undefined, at);
  if (file === null || tree?.kind !== 'scalar') return null;
  if (typeof tree.value !== 'string' && typeof tree.value !== 'number') return null;
  const { line } = placeOf(file, at);
  return { path: setting.path, value: tree.value, origin: `${file.shown}:${line ?? 1}`, source: 'file' };
}

type Reading = { readonly value: SettingValue } | { readonly problem: Problem };

function readVariable(setting: Setting, text: string): Reading {
  const schema = bare(schemaAt(setting.path.split('.')));
  const plain = schema instanceof z.ZodNumber && /^\d+$/.test(text) ? Number(text) : text;
  const value = secondsOf(setting.path, text) ?? plain;
  const parsed = schema === null ? null : z.safeParse(schema, value);
  const issue = parsed?.error?.issues[0];
  if (issue === undefined) return { value };
  const span = { start: 0, end: 0 };
  const written = { kind: 'scalar', span, value: text, source: text, plain: true } as const;
  const wording = wordIssue({ ...issue, path: [setting.path] }, written);
  const place = { file: `environment ${setting.env}`, line: null, column: null };
  return { problem: { severity: 'error', area: 'deployment', ...place, ...wording } };
}
