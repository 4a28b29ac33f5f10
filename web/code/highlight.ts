/**
 * Code as runs of text with the role of each.
 * Owns the languages; it is loaded when the first code is shown, and never before.
 */
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

const lowlight = createLowlight({
  ...{ bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, markdown, python, ruby, rust },
  ...{ sql, typescript, xml, yaml },
});

export interface CodeRun {
  readonly text: string;
  /** Such as `keyword`; empty for plain text. */
  readonly role: string;
}

/** Null for a language that is not known. */
export function highlighted(text: string, language: string): readonly CodeRun[] | null {
  if (!lowlight.registered(language)) return null;
  const runs: CodeRun[] = [];
  const collect = (nodes: readonly TreeNode[], role: string): void => {
    for (const node of nodes) {
      if (node.type === 'text') runs.push({ text: node.value, role });
      if (node.type === 'element') collect(node.children, roleOf(node) || role);
    }
  };
  collect(lowlight.highlight(language, text).children as readonly TreeNode[], '');
  return runs;
}

type TreeNode =
  { readonly type: 'text'; readonly value: string } | ElementNode | { readonly type: 'comment' | 'doctype' };

interface ElementNode {
  readonly type: 'element';
  readonly properties: { readonly className?: unknown };
  readonly children: readonly TreeNode[];
}

function roleOf({ properties: { className } }: ElementNode): string {
  const [first = ''] = Array.isArray(className) ? className.map(String) : [];
  return /^hljs-([a-z_]+)$/.exec(first)?.[1] ?? '';
}
