import type { Command } from 'commander';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { HostRule } from '@rollkeeper/controllers/deployment';
import { InvalidOptionError, UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { print, printError, runUntilStopped } from '@rollkeeper/machinery/process';
import { NOTIFICATIONS_EXIT_CODES } from '../terminal/exit-codes.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions } from './admin-client.js';
import type { TestedChannel } from './notifications/test-channels.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, choices, outputForm, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';

const FORMS = ['json', 'yaml'] as const;
const VERBS = ['test'] as const;

interface NotificationsFlags extends ApiFlags, OutputFlags, AdminClientFlags {
  readonly namespace?: string;
  readonly notificationHosts?: string;
}

/** `rollkeeper notifications test`: one message to each channel of a namespace. */
export function registerNotificationsCommand(program: Command): void {
  const command = addOutputOptions(addAdminOptions(addApiOptions(program.command('notifications'))), FORMS)
    .description(
      'send a test message to each channel of a namespace, from here and with your rights, and show what became of it (docs/NOTIFICATIONS.md)',
    )
    .argument('<verb>', VERBS.join(', '))
    .option('-n, --namespace <name>', 'the namespace of the channels (default: default)')
    .option(
      '--notification-hosts <list>',
      'hosts that the operator allows, as the replicas have them (default: those of a replica that answers; otherwise they are not checked)',
    )
    .action((verb: string, flags: NotificationsFlags) =>
      runUntilStopped((signal) => notifications(verb, flags, signal)),
    );
  choices(command.registeredArguments[0], VERBS);
}

async function notifications(verb: string, flags: NotificationsFlags, signal: AbortSignal): Promise<void> {
  if (!VERBS.some((known) => known === verb))
    throw new InvalidOptionError('verb', `"${verb}" is not one of ${VERBS.join(', ')}`);
  const form = outputForm(flags, FORMS);
  const hosts = await allowedHosts(flags);
  const { withApi } = await import('./with-api.js');
  const tested = await withApi(flags, (client) => test(client, flags.namespace ?? 'default', hosts, signal));
  const { renderTested } = await import('./notifications/test-channels.js');
  print(form === 'text' ? renderTested(tested) : await printable(form, tested));
  if (!hosts)
    printError(
      'the hosts that the operator allows are not known here, and were not checked: see --notification-hosts',
    );
  const hasFailed = tested.some(({ result }) => result === 'failed');
  process.exitCode = NOTIFICATIONS_EXIT_CODES[hasFailed ? 'failed' : 'sent'];
}

/** The allowed hosts by the option, or by a replica; undefined if neither names any. */
async function allowedHosts(flags: NotificationsFlags): Promise<readonly HostRule[] | undefined> {
  const { parseHostRules } = await import('@rollkeeper/controllers/deployment');
  const option = 'notification-hosts';
  if (flags.notificationHosts !== undefined) return parseHostRules(flags.notificationHosts, option);
  const { askAdmin, knowsReplica } = await import('./admin-client.js');
  if (!(await knowsReplica(flags))) return undefined;
  const config = await askAdmin<{ readonly 'notification-hosts'?: string }>(flags, '/admin/config');
  return parseHostRules(config[option] ?? '', option);
}

async function test(
  client: HttpApiClient,
  namespace: string,
  hosts: readonly HostRule[] | undefined,
  signal: AbortSignal,
): Promise<readonly TestedChannel[]> {
  const { channelsIn, readNamespace, testChannels } = await import('./notifications/test-channels.js');
  const { DEPLOYMENT_APIS, UndiciSender, deploymentTypeOf, hostProblem } =
    await import('@rollkeeper/controllers/deployment');
  const { smtpSender } = await import('../insight/notifications/index.js');
  const { SystemClock, SystemRandom } = await import('@rollkeeper/machinery/clock');
  const { unlessGone } = await import('@rollkeeper/client/api-client');
  const clock = new SystemClock();
  const lists = await Promise.all(
    DEPLOYMENT_APIS.map((api) =>
      unlessGone(client.list<Deployment>(deploymentTypeOf(api), { namespace, signal })),
    ),
  );
  const deployments = lists.flatMap((list) => list?.items ?? []);
  const channels = channelsIn(await readNamespace(client, namespace), deployments);
  if (channels.size === 0)
    throw new UnsupportedError(
      `namespace ${namespace} and its Deployments name no channel (rollkeeper.dev/notify)`,
    );
  const sender = new UndiciSender(clock, (url) => hosts && hostProblem(url, hosts, '--notification-hosts'));
  try {
    const parts = {
      client,
      sender,
      clock,
      signal,
      hosts,
      mail: smtpSender(clock),
      random: new SystemRandom(),
    };
    return await testChannels(namespace, channels, parts);
  } finally {
    await sender.close();
  }
}
