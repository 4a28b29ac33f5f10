/**
 * The console begins here: style sheets, and the one element that everything is drawn into.
 * Owns nothing else; which page is shown is decided by app.tsx.
 */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { showTheme } from './session/theme.ts';
import './style/tokens.css';
import './style/base.css';
import './style/kit.css';
import './style/shell.css';
import './style/parts.css';
import './style/pages.css';
import './style/transcript.css';
import './style/work.css';
import './style/lists.css';
import './style/report.css';

const place = document.getElementById('console');
if (place === null) throw new Error('Cannot draw the console: the page has no place for it');
showTheme();
createRoot(place).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
