import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runUntilStopped } from '@rollkeeper/machinery/process';
import type { ExperimentFile } from '@rollkeeper/controllers/deployment';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { ExperimentReport } from '../insight/experiments/index.js';
import { EXPERIMENT_EXIT_CODES } from '../terminal/exit-codes.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, choices, outputForm, printable, writerOf } from './output.js';
import { readDuration } from './rollout-progress.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions, readNamed } from './shared-options.js';
import { refOf } from './target.js';

const VERBS = ['run', 'list', 'status', 'stop'] as const;
type Verb = (typeof VERBS)[number];
const FORMS = ['json', 'yaml'] as const;
/** Beyond the times of the experiment itself, for the controller to record its end. */
const GRACE_MS = 60_000;

interface ExperimentFlags extends ApiFlags, OutputFlags {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly filename?: string;
  readonly detach?: boolean;
  readonly timeout?: string;
  readonly by?: string;
}

/** `rollkeeper experiment`: pods of several templates side by side for a time, outside of a rollout. */
export function registerExperimentCommand(program: Command): void {
  const command = addOutputOptions(addApiOptions(program.command('experiment')), FORMS)
    .description(
      'run pods of several templates side by side for a time, judge them by checks, and remove them (docs/ROLLOUTS.md)',
    )
    .argument('<verb>', VERBS.join(', '))
    .argument('[name]', 'for status and stop: the experiment, NAMESPACE/NAME or NAME')
    .option(
      '-n, --namespace <name>',
      'the namespace of the experiment (default: that of the file, or default)',
    )
    .option('-A, --all-namespaces', 'for list: the experiments of all namespaces')
    .option('-f, --filename <file>', 'for run: the experiment, YAML or JSON; - for standard input')
    .option('--detach', 'for run: print the name of the experiment, and do not wait for its end')
    .option(
      '--timeout <duration>',
      'for run: how long to wait: 90s, 5m, or seconds (default: as long as it may take)',
    )
    .option('--by <who>', 'for stop: requester to record (default: the local user)')
    .action((word: string, name: string | undefined, flags: ExperimentFlags) =>
      runUntilStopped((signal) => experiment(word, name, flags, signal)),
    );
  choices(command.registeredArguments[0], VERBS);
}

async function experiment(
  word: string,
  name: string | undefined,
  flags: ExperimentFlags,
  signal: AbortSignal,
): Promise<void> {
  const verb = VERBS.find((known) => known === word);
  if (!verb) throw new InvalidOptionError('verb', `"${word}" is not one of ${VERBS.join(', ')}`);
  if (verb === 'run') return run(name, flags, signal);
  const { withApi } = await import('./with-api.js');
  if (verb === 'list') return withApi(flags, (client) => list(client, flags, signal));
  if (name === undefined) throw new InvalidOptionError('name', `is required for ${verb}`);
  const ref = refOf(name, flags);
  await withApi(flags, (client) => about(verb, client, ref, flags));
}

async function run(name: string | undefined, flags: ExperimentFlags, signal: AbortSignal): Promise<void> {
  if (name !== undefined) throw new InvalidOptionError('name', 'is in the file of run, which -f names');
  outputForm(flags, FORMS);
  const file = await readFile(flags.filename);
  if (flags.namespace !== undefined && (file.namespace ?? flags.namespace) !== flags.namespace)
    throw new InvalidOptionError(
      'namespace',
      `"${flags.namespace}" conflicts with "${file.namespace}" of the file`,
    );
  const namespace = flags.namespace ?? file.namespace ?? 'default';
  const timeoutMs =
    flags.timeout === undefined
      ? file.startWithin + file.duration + GRACE_MS
      : await readDuration('timeout', flags.timeout);
  // Imported lazily to keep other commands small.
  const { withApi } = await import('./with-api.js');
  await withApi(flags, async (client) => {
    const { beginExperiment } = await import('../insight/experiments/index.js');
    const { SystemClock, SystemRandom } = await import('@rollkeeper/machinery/clock');
    const clock = new SystemClock();
    const id = await beginExperiment(file, namespace, {
      ...{ client, clock, signal, random: new SystemRandom() },
      findDeployment: (deployment) => find(client, { namespace, name: deployment }),
    });
    if (flags.detach) return print(`experiment ${namespace}/${id} has begun`);
    await wait(client, { namespace, name: id }, { flags, clock, signal, timeoutMs });
  });
}

async function readFile(filename: string | undefined): Promise<ExperimentFile> {
  if (filename === undefined) throw new InvalidOptionError('filename', 'is required for run');
  const { parseExperimentFile } = await import('@rollkeeper/controllers/deployment');
  const text = await readNamed('filename', filename === '-' ? '/dev/stdin' : filename);
  const parsed = parseExperimentFile(text);
  if ('problem' in parsed) throw new InvalidOptionError('filename', `${filename}: ${parsed.problem}`);
  return parsed.file;
}

async function find(client: HttpApiClient, ref: { readonly namespace: string; readonly name: string }) {
  const { findDeployment } = await import('./live-deployment.js');
  const { unlessGone } = await import('@rollkeeper/client/api-client');
  return (await unlessGone(findDeployment(client, ref)))?.deployment;
}

interface Waiting {
  readonly flags: ExperimentFlags;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function wait(
  client: HttpApiClient,
  named: { readonly namespace: string; readonly name: string },
  { clock, flags, signal, timeoutMs }: Waiting,
): Promise<void> {
  const { stateOf, waitForExperiment } = await import('../insight/experiments/index.js');
  const form = outputForm(flags, FORMS);
  const write = form === 'text' ? undefined : await writerOf(form, false);
  let said = '';
  const show = (report: ExperimentReport): void => {
    const line = write ? write(report) : `experiment ${named.namespace}/${named.name}: ${stateOf(report)}`;
    if (line !== said) print(line);
    said = line;
  };
  const last = await waitForExperiment(client, named, { clock, show, signal, timeoutMs });
  process.exitCode = EXPERIMENT_EXIT_CODES[last.ended === undefined ? 'timed-out' : last.phase];
}

async function list(client: HttpApiClient, flags: ExperimentFlags, signal: AbortSignal): Promise<void> {
  if (flags.allNamespaces && flags.namespace !== undefined)
    throw new InvalidOptionError('namespace', 'conflicts with --all-namespaces');
  const form = outputForm(flags, FORMS);
  const { listExperiments, renderExperiments } = await import('../insight/experiments/index.js');
  const namespace = flags.allNamespaces ? undefined : (flags.namespace ?? 'default');
  const reports = await listExperiments(client, namespace, signal);
  if (form !== 'text') return print(await printable(form, reports));
  print(reports.length === 0 ? 'there are no experiments' : renderExperiments(reports, flags.allNamespaces));
}

async function about(
  verb: Exclude<Verb, 'run' | 'list'>,
  client: HttpApiClient,
  ref: { readonly namespace: string; readonly name: string },
  flags: ExperimentFlags,
): Promise<void> {
  const form = outputForm(flags, FORMS);
  const { readExperiment, renderExperiment, stopExperiment } =
    await import('../insight/experiments/index.js');
  if (verb === 'stop') {
    const by = flags.by ?? userInfo().username;
    if (by.trim() === '') throw new InvalidOptionError('by', 'is empty');
    const { ended, experiment: name, phase } = await stopExperiment(client, ref, by);
    const what = ended === undefined ? 'is being stopped' : `had ended already: ${phase}`;
    return print(`experiment ${ref.namespace}/${name} ${what}`);
  }
  const report = await readExperiment(client, ref);
  print(form === 'text' ? renderExperiment(report) : await printable(form, report));
  process.exitCode = EXPERIMENT_EXIT_CODES[report.phase];
}
