/**
 * A page that needs nothing else: one file with its style, at most one script, and a policy that allows only those.
 * Pure; owns the frame and the policy, for reports of runs and pages of the simulator; must not know what is in a page.
 */
import { createHash } from 'node:crypto';
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import { oneLine } from '../plain-text.ts';
import { PAGE_STYLE } from './page-style.ts';
import { SHARED_STYLE } from './shared-style.ts';

export interface PageParts {
  readonly title: string;
  /** Beside what all pages have. */
  readonly style: string;
  /** Null for a page on which nothing runs. Constant text: what comes from outside is never in it. */
  readonly script: string | null;
  /** Markup, every text in it escaped. */
  readonly body: readonly string[];
}

/** One HTML file with all that it needs, and a policy that lets nothing else in. */
export function renderPage({ title, style, script, body }: PageParts): string {
  const whole = `${SHARED_STYLE}${PAGE_STYLE}${style}`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy(whole, script)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeText(title)}</title>`,
    `<style>${whole}</style>`,
    '</head>',
    '<body>',
    ...body,
    ...(script === null ? [] : [`<script>${script}</script>`]),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** The browser itself refuses whatever slipped through: this style and this script by their hashes, and nothing else. */
function policy(style: string, script: string | null): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src ${script === null ? "'none'" : `'${hashOf(script)}'`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** For text and for attributes in quotes: on one line, and nothing of it is markup. */
export function escapeText(text: string): string {
  return escapeMarkup(oneLine(text));
}
