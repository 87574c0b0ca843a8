import { DOCTOR_EXIT_CODES } from '../terminal/exit-codes.js';
import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runUntilStopped } from '@rollkeeper/machinery/process';
import type { Diagnosis } from './doctor/index.js';
import { styleFor } from '../terminal/index.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askAdmin, knowsReplica } from './admin-client.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, outputForm, printable } from './output.js';
import type { ApiFlags, RedisFlags } from './shared-options.js';
import { addApiOptions, addRedisOptions, parseRef, redisUrlOf } from './shared-options.js';

interface DoctorFlags extends AdminClientFlags, ApiFlags, RedisFlags, OutputFlags {
  readonly serviceAccount?: string;
  readonly controllers: string;
  readonly dryRunNamespace: string;
  readonly dryRun: boolean;
}

const FORMS = ['json', 'yaml'] as const;

/** `rollkeeper doctor`: looks at an installation, and says what to do. */
export function registerDoctorCommand(program: Command): void {
  const command = addAdminOptions(addApiOptions(program.command('doctor')));
  addRedisOptions(command, 'the Redis of the replicas (default: the one that `up` runs)')
    .description(
      'check an installation (API, rights, Redis, replicas, leader, caches, queues, webhooks, other controllers) and give a remedy for each finding; changes nothing',
    )
    .option(
      '--service-account <namespace/name>',
      'check the rights of this account, the one of the replicas (default: the user of the kubeconfig)',
    )
    .option(
      '--controllers <names>',
      'controllers to check rights for, if no replica reports its own',
      'deployment,replicaset',
    )
    .option('--dry-run-namespace <name>', 'namespace of the dry runs', 'default')
    .option('--no-dry-run', 'send no writes, not even dry runs');
  addOutputOptions(command, FORMS).action((flags: DoctorFlags) =>
    runUntilStopped(async (signal) => {
      const form = outputForm(flags, FORMS);
      const diagnosis = await diagnose(flags, signal);
      const { renderDiagnosis } = await import('./doctor/index.js');
      print(
        form === 'text'
          ? renderDiagnosis(diagnosis, styleFor(process.stdout, process.env))
          : await printable(form, diagnosis),
      );
      process.exitCode = DOCTOR_EXIT_CODES[diagnosis.result];
    }),
  );
}

async function diagnose(flags: DoctorFlags, signal: AbortSignal): Promise<Diagnosis> {
  const { examine } = await import('./doctor/index.js');
  const { patienceMs, withSilentApi } = await import('./with-api.js');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const serviceAccount =
    flags.serviceAccount === undefined ? undefined : parseRef(flags.serviceAccount, 'service-account');
  const controllers = readControllers(flags.controllers);
  const redisUrl = redisUrlOf(flags, process.env) ?? (await redisOfUp(flags));
  const hasReplica = await knowsReplica(flags);
  return withSilentApi({ ...flags, ...(await apiOfUp(flags)) }, async (client, apiUrl, connection) =>
    examine(
      {
        client,
        apiUrl,
        connection,
        clock: new SystemClock(),
        patienceMs: await patienceMs(),
        ...(hasReplica && { askAdmin: (path) => askAdmin(flags, path) }),
        redisUrl,
        serviceAccount,
        controllers,
        tryIn: flags.dryRun ? flags.dryRunNamespace : undefined,
      },
      signal,
    ),
  );
}

const CONTROLLERS = ['deployment', 'replicaset', 'garbage-collector', 'namespace'];

/** @throws InvalidOptionError */
function readControllers(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !CONTROLLERS.includes(name));
  if (unknown !== undefined)
    throw new InvalidOptionError('controllers', `"${unknown}" is not one of ${CONTROLLERS.join(', ')}`);
  return names;
}

/** The API of what `up` runs is that of its own kubeconfig, unless another one is named. */
async function apiOfUp({
  adminUrl,
  context,
  dataDir,
  kubeconfig,
}: DoctorFlags): Promise<ApiFlags & { readonly isFound?: boolean }> {
  if (adminUrl !== undefined || kubeconfig !== undefined || context !== undefined) return {};
  const { runningKubeconfig } = await import('../replica/supervisor/index.js');
  const found = await runningKubeconfig(dataDir);
  return { kubeconfig: found, ...(found !== undefined && { isFound: true }) };
}

async function redisOfUp({ adminUrl, dataDir }: DoctorFlags): Promise<string | undefined> {
  if (adminUrl !== undefined) return undefined;
  const { runningRedisUrl } = await import('../replica/supervisor/index.js');
  return runningRedisUrl(dataDir);
}
