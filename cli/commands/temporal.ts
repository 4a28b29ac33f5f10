/**
 * `parley temporal`: what an operator does about the Temporal server, one file of cli/temporal for each.
 * Owns the list; must not load what a subcommand needs to work.
 */
import type { Command } from 'commander';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { devCommand } from '../temporal/dev.ts';
import { registerCommand } from '../temporal/register.ts';
import { replayCommand } from '../temporal/replay.ts';
import { restoredCommand } from '../temporal/restored.ts';
import { scheduleCommand, schedulesCommand } from '../temporal/schedule.ts';
import { versionsCommand, promoteCommand, drainCommand } from '../temporal/versions.ts';

const SUBCOMMANDS: readonly ((context: CommandContext) => Command)[] = [
  devCommand,
  registerCommand,
  replayCommand,
  restoredCommand,
  versionsCommand,
  promoteCommand,
  drainCommand,
  scheduleCommand,
  schedulesCommand,
];

export function command(context: CommandContext): CliCommand {
  const group = new CliCommand('temporal')
    .description('Run a Temporal server for development, or make a server ready for Parley.')
    .helpCommand(false)
    .examples('parley temporal dev', 'parley temporal register --address HOST:7233');
  for (const define of SUBCOMMANDS) group.addCommand(define(context));
  return group;
}
