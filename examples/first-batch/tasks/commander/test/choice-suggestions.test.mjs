/**
 * The check of the conversation "choice-suggestions": a wrong choice gets a hint, a right one is taken as before.
 * It must not depend on anything but Node.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Argument, Command, InvalidArgumentError, Option } from '../index.js';

const LEVELS = ['debug', 'info', 'warning'];

/** What the program says when it is called with `args`, or null when it has nothing to object to. */
function complaint(args) {
  let said = null;
  const program = new Command('pour')
    .exitOverride()
    .configureOutput({ writeErr: (text) => (said = text) })
    .addArgument(new Argument('[size]').choices(['small', 'medium', 'large']))
    .addOption(new Option('-l, --level <level>').choices(LEVELS))
    .addOption(new Option('--also <level...>').choices(LEVELS));
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    assert.equal(error.code, 'commander.invalidArgument');
  }
  return said;
}

test('an option suggests the nearest choice', () => {
  assert.match(complaint(['--level', 'debgu']), /Allowed choices are debug, info, warning\.\n\(Did you mean debug\?\)/);
});

test('an argument suggests the nearest choice', () => {
  assert.match(complaint(['smal']), /Allowed choices are small, medium, large\.\n\(Did you mean small\?\)/);
});

test('each value of a variadic option is looked at', () => {
  assert.match(complaint(['--also', 'info', 'warnin']), /\(Did you mean warning\?\)/);
});

test('nothing is suggested when nothing is near', () => {
  const said = complaint(['--level', 'purple']);
  assert.match(said, /Allowed choices are debug, info, warning\./);
  assert.doesNotMatch(said, /Did you mean/);
});

test('a right choice is taken, and a wrong one is still the same kind of error', () => {
  assert.equal(complaint(['large', '--level', 'info', '--also', 'debug', 'warning']), null);
  const option = new Option('--level <level>').choices(LEVELS);
  assert.throws(() => option.parseArg('infos'), InvalidArgumentError);
});
