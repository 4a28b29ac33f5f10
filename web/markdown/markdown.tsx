/**
 * Markdown as elements.
 * Owns the appearance; no text becomes markup here, and no element sends a request to another server by itself.
 */
import { Fragment, memo, type ReactElement, type ReactNode, useMemo } from 'react';
import { Code } from '../code/code.tsx';
import { type MarkdownItem, type MarkdownNode, markdownTree } from './markdown-tree.ts';

export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactElement {
  const tree = useMemo(() => markdownTree(text), [text]);
  if (tree === null) return <p className="event-text">{text}</p>;
  return <div className="markdown">{drawn(tree)}</div>;
});

function drawn(nodes: readonly MarkdownNode[]): ReactNode {
  return nodes.map((node, at) => <Fragment key={at}>{elementOf(node)}</Fragment>);
}

function elementOf(node: MarkdownNode): ReactNode {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'code':
      return <Code text={node.text} language={node.language} />;
    case 'codespan':
      return <code>{node.text}</code>;
    case 'break':
      return <br />;
    case 'rule':
      return <hr />;
    case 'heading':
      // The page's own headings end above: a transcript must not rearrange them.
      return (
        <p className={`markdown-heading markdown-heading-${Math.min(node.depth, 4)}`}>{drawn(node.of)}</p>
      );
    case 'paragraph':
      return <p>{drawn(node.of)}</p>;
    case 'quote':
      return <blockquote>{drawn(node.of)}</blockquote>;
    case 'strong':
      return <strong>{drawn(node.of)}</strong>;
    case 'emphasis':
      return <em>{drawn(node.of)}</em>;
    case 'deleted':
      return <del>{drawn(node.of)}</del>;
    case 'group':
      return drawn(node.of);
    case 'link':
      return <OutwardLink address={node.address}>{drawn(node.of)}</OutwardLink>;
    case 'list':
      return <List start={node.start} items={node.items} />;
    case 'table':
      return <MarkdownTable head={node.head} rows={node.rows} />;
  }
}

/** Shows its address when the user points at it, and sends that server no referrer. */
function OutwardLink({ address, children }: { readonly address: string; readonly children: ReactNode }) {
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow" tabIndex={-1}>
      {children}
    </a>
  );
}

function List({ start, items }: { readonly start: number | null; readonly items: readonly MarkdownItem[] }) {
  const drawnItems = items.map(({ isDone, of }, at) => (
    <li key={at}>
      {isDone === null ? null : <span>{isDone ? '☑ ' : '☐ '}</span>}
      {drawn(of)}
    </li>
  ));
  return start === null ? <ul>{drawnItems}</ul> : <ol start={start}>{drawnItems}</ol>;
}

type TableNode = Extract<MarkdownNode, { readonly kind: 'table' }>;

function MarkdownTable({ head, rows }: Pick<TableNode, 'head' | 'rows'>): ReactElement {
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, at) => (
            <th key={at} scope="col">
              {drawn(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{drawn(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
