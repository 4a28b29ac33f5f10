/**
 * The choice between light, dark and what the system says.
 * Owns the field.
 */
import type { ReactElement } from 'react';
import { THEMES, useTheme } from '../session/theme.ts';
import { labelOf } from '../text/words.ts';

export function ThemeField(): ReactElement {
  const [theme, choose] = useTheme();
  return (
    <label className="theme">
      <span className="quiet">Colours</span>
      <select
        value={theme}
        onChange={(event) => choose(THEMES.find((one) => one === event.target.value) ?? 'system')}
      >
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {labelOf(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
