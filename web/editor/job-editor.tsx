/**
 * The editor of a job file: colours, line numbers, and the compiler's findings where they are.
 * Owns the library, which is loaded with this file alone. It stands in a shadow tree of its own, where its styles are
 * sheets and no elements: the page's policy refuses the latter.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type ReactElement, useEffect, useRef } from 'react';
import { type FindingPlace, rangeOf } from './finding-place.ts';

export interface EditorFinding extends FindingPlace {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
}

export interface JobEditorProps {
  readonly label: string;
  readonly text: string;
  /** Of this text; those of an earlier one are at other places. */
  readonly findings: readonly EditorFinding[];
  onChange(text: string): void;
}

export function JobEditor({ label, text, findings, onChange }: JobEditorProps): ReactElement {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const told = useRef(onChange);
  useEffect(() => {
    told.current = onChange;
  }, [onChange]);
  const first = useRef(text);
  useEffect(() => {
    const inner = document.createElement('div');
    host.current?.append(inner);
    const root = inner.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: extensionsOf(label, (changed) => told.current(changed)),
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
      inner.remove();
    };
  }, [label]);
  useEffect(() => {
    const editor = view.current;
    // What was typed here came back; only a text from elsewhere is another one.
    if (editor === null || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const shown = editor.state.doc.toString();
    editor.dispatch(
      setDiagnostics(editor.state, shown === text ? findings.map((one) => drawn(shown, one)) : []),
    );
  }, [findings, text]);
  return <div className="editor" ref={host} />;
}

function drawn(text: string, finding: EditorFinding): Diagnostic {
  const { severity, code, message, remedy } = finding;
  return {
    ...rangeOf(text, finding),
    severity,
    source: code,
    message: remedy === null ? message : `${message}: ${remedy}`,
  };
}

function extensionsOf(label: string, onChange: (text: string) => void) {
  return [
    lineNumbers(),
    history(),
    highlightActiveLine(),
    lintGutter(),
    yaml(),
    syntaxHighlighting(COLOURS),
    THEME,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    // Tab leaves the editor, as it leaves every field.
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

/** The variables of the page reach into the shadow tree, so both of its colours hold here. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-strong)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
]);

/** The library draws its marks as pictures inside its styles, which the page's policy refuses: these are none. */
const THEME = EditorView.theme({
  '.cm-lint-marker': { content: 'normal', width: 'auto', fontWeight: '700', textAlign: 'center' },
  '.cm-lint-marker::before': { content: '"!"' },
  '.cm-lint-marker-error': { content: 'normal', color: 'var(--bad)' },
  '.cm-lint-marker-warning': { content: 'normal', color: 'var(--wait)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline wavy var(--wait)' },
  '&': { backgroundColor: 'var(--card)', color: 'var(--text)', fontSize: '13px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '360px', maxHeight: '65vh' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--card)',
    color: 'var(--quiet)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--raised) 45%, transparent)' },
  '.cm-tooltip': { backgroundColor: 'var(--card)', color: 'var(--text)', border: '1px solid var(--line)' },
});
