import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { print, runOnce } from '@rollkeeper/machinery/process';
import type { AskedNames, ReadNames } from './completion/index.js';
import { choices } from './output.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** The number of names that a shell shows of a very large cluster. */
const MOST_NAMES = 500;

/** `rollkeeper completion`, and the hidden command that its scripts ask. */
export function registerCompletionCommands(program: Command): void {
  const command = program
    .command('completion')
    .description(
      'print a script that completes commands, options and names in the shell: source <(rollkeeper completion bash)',
    )
    .argument('<shell>', 'bash, zsh or fish')
    .action((word: string) =>
      runOnce(async () => {
        const shell = SHELLS.find((known) => known === word);
        if (!shell) throw new InvalidOptionError('shell', `"${word}" is not one of ${SHELLS.join(', ')}`);
        const { COMPLETION_SCRIPTS } = await import('./completion/index.js');
        process.stdout.write(COMPLETION_SCRIPTS[shell]);
      }),
    );
  choices(command.registeredArguments[0], SHELLS);
  program
    .command('__complete', { hidden: true })
    .argument('[words...]', 'after --: the words after the program’s name')
    .action(async (words: string[]) => {
      const { complete, modelOf } = await import('./completion/index.js');
      const { SystemClock } = await import('@rollkeeper/machinery/clock');
      const { endSoon } = await import('@rollkeeper/machinery/process');
      const given = { clock: new SystemClock(), loadReader };
      print(`${await complete(modelOf(program), words, given)}`);
      // A connection that is being made would keep the shell waiting.
      void endSoon();
    });
}

async function loadReader(): Promise<ReadNames> {
  const { withSilentApi } = await import('./with-api.js');
  const { contextNames } = await import('@rollkeeper/client/api-client');
  const typesOf = await loadTypes();
  return async (asked, api, signal) => {
    if (asked.of === 'contexts') return contextNames(api.kubeconfig);
    const types = typesOf(asked);
    const given = asked.of === 'objects' ? asked.namespace : undefined;
    return withSilentApi(api, async (client) => {
      const lists = await Promise.allSettled(
        types.map((type) => {
          const namespace = type.namespaced ? given : undefined;
          return client.list(type, { namespace, limit: MOST_NAMES, metadataOnly: true, signal });
        }),
      );
      const names = lists.flatMap((list) =>
        list.status === 'fulfilled' ? list.value.items.map(({ metadata }) => metadata.name) : [],
      );
      return [...new Set(names)].sort();
    });
  };
}

const OF_DEPLOYMENTS = /^(deploy|deployments?|rkd)(\.|$)/i;

/** The types of the objects whose names are asked for: Deployments are of two. */
async function loadTypes(): Promise<(asked: AskedNames) => readonly ResourceType[]> {
  const { Deployment, Namespace, RollkeeperDeployment } = await import('@rollkeeper/machinery/kubernetes');
  const { kindNamed } = await import('../insight/diagnose/index.js');
  return (asked) => {
    if (asked.of !== 'objects') return [Namespace];
    if (OF_DEPLOYMENTS.test(asked.kind)) return [Deployment, RollkeeperDeployment];
    const found = kindNamed(asked.kind);
    return found ? [found.type] : [];
  };
}
