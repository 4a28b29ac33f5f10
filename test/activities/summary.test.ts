/** Summaries for GitHub and Slack: bounds, and that no foreign text becomes markup, a link or a mention. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { marked } from 'marked';
import { describe, expect, it } from 'vitest';
import type { ReportData, ReportItem } from '../../report/report-data.ts';
import { GITHUB_BYTES_MAX, inert, renderGithub } from '../../report/summary/render-github.ts';
import { renderSlack, slackMessage } from '../../report/summary/render-slack.ts';
import { COMPLETE, INCOMPLETE, UNRECONCILED, reportItem } from './report-data.ts';

const FOLDER = path.resolve(import.meta.dirname, '../golden/report');

/** One of everything that means something to Markdown, HTML or Slack, or that mentions a user, an issue or a commit. */
const EVILS = [
  '| a | b |\n| --- | --- |\n# head\n- [ ] task',
  '<script>alert(1)</script><img src=x onerror=alert(1)><!-- -->',
  '`code` ``more`` ```\n~~~ **bold** __bold__ *em* ~~gone~~ \\| \\\\| \\` \\',
  '@octocat @acme/team #12 acme/shop#12 GH-12 a@b.example c0ffee1c0ffee1c0ffee1c0ffee1c0ffee1c0ffee1c',
  'https://evil.example/x www.evil.example mailto:a@b.example [x](https://evil.example) ![i](https://evil.example/i.png) <https://evil.example>',
  '<!channel> <!here> <@U123> <#C123> <https://evil.example|click> &lt;b&gt; :smile: $x$ $$y$$',
  '\u001B[31mred\u001B[0m\u0007\u202Eevil\u2028line\r\n</details></code></table>',
];

function hostile(evil: string): ReportData {
  const item: ReportItem = {
    ...reportItem(evil, { outcome: 'check_failed', detail: evil }, {}, [], {
      check: [evil, '```', '````text'],
      findings: [{ code: 'left_out', result: evil, says: evil }],
    }),
    delivery: {
      ...{ state: 'pushed', repository: evil, branch: evil, commit: null, problem: evil },
      pullRequest: 'https://git.example/a/b)|<script>`x`/pull/7',
    },
  };
  const run = { ...COMPLETE.run, name: evil, total: 1, ended: { check_failed: 1 } };
  return { ...COMPLETE, run, items: [item], reconciliation: null };
}

/** With as many conversations as a plan of today may have, each as talkative as can be. */
function large(count: number): ReportData {
  const text = '@x|`&<'.repeat(200);
  const items = Array.from({ length: count }, (_, index) =>
    reportItem(
      `item-${index}/${text.slice(0, 150)}`,
      { outcome: index % 3 === 0 ? 'check_failed' : 'succeeded', detail: text },
      {},
      [],
      {
        check: index % 3 === 0 ? Array.from({ length: 20 }, () => text) : [],
        findings: [{ code: 'left_out', result: 'changes.patch', says: text }],
      },
    ),
  );
  const failed = Math.ceil(count / 3);
  return {
    ...COMPLETE,
    run: { ...COMPLETE.run, total: count, ended: { succeeded: count - failed, check_failed: failed } },
    items,
  };
}

describe('golden summaries', () => {
  it.each([
    ['summary-complete.md', renderGithub(COMPLETE)],
    ['summary-incomplete.md', renderGithub(INCOMPLETE)],
    ['summary-unreconciled.md', renderGithub(UNRECONCILED)],
    ['summary-complete.slack.json', `${JSON.stringify(slackMessage(COMPLETE), null, 2)}\n`],
    ['summary-incomplete.slack.json', `${JSON.stringify(slackMessage(INCOMPLETE), null, 2)}\n`],
  ])('%s', (name, text) => {
    const file = path.join(FOLDER, name);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });
});

/** Of the page that Markdown makes of it: what stands outside of code blocks, without our own comments. */
function pageOf(markdown: string): { readonly html: string; readonly text: string } {
  const html = marked.parse(markdown, { async: false, gfm: true }).replaceAll('<!-- -->', '');
  const text = html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_, point: string) => String.fromCodePoint(Number(point)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  return { html, text };
}

describe('renderGithub()', () => {
  it.each(EVILS)('lets nothing of it become markup: %j', (evil) => {
    const { html } = pageOf(renderGithub(hostile(evil)));
    const tags = [...html.matchAll(/<\/?([a-z0-9]+)([^>]*)>/gi)].map(
      ([, tag, attributes]) => `${tag}${attributes}`,
    );
    const own =
      /^(?:h2|p|sub|strong|code|table|thead|tbody|tr|t[hd](?: align="right")?|details|summary|pre|code class="language-text"|ul|li)$/;
    expect(tags.filter((tag) => !own.test(tag) && !tag.startsWith('a'))).toEqual([]);
    // The one link is the pull request's.
    const links = [...html.matchAll(/<a ([^>]*)>/g)].map(([, attributes]) => attributes);
    expect(links).toEqual(['href="https://git.example/a/b%29%7C%3Cscript%3E%60x%60/pull/7"']);
    expect(html.match(/<tr>/g)).toHaveLength(2);
    expect(html.match(/<td\b/g)).toHaveLength(6);
    expect(html.match(/<h2>/g)).toHaveLength(1);
  });

  it.each(EVILS)('shows it as it is, and within <code> or <pre>, where nobody is mentioned: %j', (evil) => {
    const markdown = renderGithub(hostile(evil));
    const { html } = pageOf(markdown);
    const outside = html.replaceAll(/<(code|pre)\b[^>]*>[\s\S]*?<\/\1>/g, '').replaceAll(/<[^>]*>/g, '');
    expect(outside).not.toMatch(/[@#](?=[a-z0-9])|evil|octocat|c0ffee/i);
    const words = pageOf(inert(evil)).text.replaceAll(/\s+/g, ' ').trim();
    expect(pageOf(markdown).text.replaceAll(/\s+/g, ' ')).toContain(words.slice(0, 60));
  });

  it('fits into a comment however much there is to say, and counts what it leaves out', () => {
    for (const count of [1, 200, 10_000]) {
      const text = renderGithub(large(count));
      expect(Buffer.byteLength(text)).toBeLessThan(GITHUB_BYTES_MAX + 1_000);
      expect(text.length).toBeLessThan(65_536);
      const { html } = pageOf(text);
      expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
      expect(text.endsWith('tells more of each.</sub>\n')).toBe(true);
    }
    expect(renderGithub(large(10_000))).toMatch(/And 3\d\d\d more conversations that did not succeed/);
  });

  it('says so when there is nothing at all', () => {
    const run = { ...COMPLETE.run, total: 0, ended: {} };
    const text = renderGithub({
      ...COMPLETE,
      run,
      items: [],
      reconciliation: null,
      asksReconciliation: false,
    });
    expect(text).toContain('0 conversations');
    expect(text).not.toContain('| conversation |');
  });
});

/** Every text of a message with the kind of block that it stands in. */
function textsOf(data: ReportData): readonly { readonly type: string; readonly text: string }[] {
  const { blocks } = JSON.parse(renderSlack(data)) as ReturnType<typeof slackMessage>;
  return blocks.flatMap((block): readonly { readonly type: string; readonly text: string }[] =>
    block.type === 'context'
      ? block.elements.map(({ type, text }) => ({ type, text }))
      : [{ type: block.type as string, text: block.text.text }],
  );
}

describe('renderSlack()', () => {
  it.each(EVILS)('lets nothing of it become markup: %j', (evil) => {
    const { text } = JSON.parse(renderSlack(hostile(evil))) as ReturnType<typeof slackMessage>;
    for (const one of [...textsOf(hostile(evil)).filter(({ type }) => type !== 'header'), { text }]) {
      // Only the link to the pull request is one, and only code is between backticks.
      const left = one.text.replaceAll(/<https:\/\/git\.example\/[^<>|]*\|[^<>|]*>/g, '');
      expect(left).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
      expect((left.replaceAll('```', '').match(/`/g)?.length ?? 0) % 2).toBe(0);
    }
    const sections = textsOf(hostile(evil)).filter(({ type }) => type === 'section');
    const outside = sections
      .map((one) => one.text.replaceAll(/```[\s\S]*?```|`[^`]*`|<[^>]*>/g, ''))
      .join('\n');
    expect(outside).not.toMatch(/evil|octocat|\*|~/);
  });

  it("keeps Slack's bounds however much there is to say", () => {
    for (const data of [
      large(10_000),
      large(1),
      COMPLETE,
      ...EVILS.map((evil) => hostile(evil.repeat(200))),
    ]) {
      const texts = textsOf(data);
      expect(texts.length).toBeLessThanOrEqual(50);
      for (const { type, text } of texts) {
        expect(text.length).toBeGreaterThan(0);
        expect(text.length).toBeLessThanOrEqual(type === 'header' ? 150 : 3_000);
      }
    }
    expect(
      textsOf(large(10_000))
        .map(({ text }) => text)
        .join('\n'),
    ).toMatch(/and 33\d\d more conversations/);
  });
});
