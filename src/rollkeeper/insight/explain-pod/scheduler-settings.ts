import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { assertNamedFile, readNamedFile } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import {
  compileConfiguration,
  defaultConfiguration,
  readConfiguration,
  translatePolicy,
} from '@rollkeeper/scheduler';
import type { SchedulerConfiguration, SchedulerPluginDefinition } from '@rollkeeper/scheduler';

/** In a file's mode. */
const WRITABLE_BY_ALL = 0o002;

/** The files of a scheduler's settings. */
export interface SchedulerFiles {
  /** A `KubeSchedulerConfiguration`. @default kube-scheduler's default profile */
  readonly config?: string | undefined;
  /** The old policy file, in place of `config`. */
  readonly policyConfigFile?: string | undefined;
  /** A module whose default export is a plug-in, or a list of them. */
  readonly plugins?: string | undefined;
  /** The scheduler's name in pods that are scheduled here, if the configuration has no profiles. */
  readonly schedulerName?: string | undefined;
}

interface SchedulerSettings {
  readonly configuration: SchedulerConfiguration;
  readonly plugins: readonly SchedulerPluginDefinition[];
}

/** @throws InvalidOptionError naming the option, or the field of the file */
export async function readSchedulerSettings(
  files: SchedulerFiles,
  logger: Logger,
): Promise<SchedulerSettings> {
  const configuration = named(await configurationOf(files, logger), files.schedulerName);
  for (const each of configuration.withoutEffect)
    logger.warn('a field of the configuration has no effect here', { field: each });
  return { configuration, plugins: files.plugins === undefined ? [] : await loadPlugins(files.plugins) };
}

async function configurationOf(
  { config, policyConfigFile }: SchedulerFiles,
  logger: Logger,
): Promise<SchedulerConfiguration> {
  if (config !== undefined && policyConfigFile !== undefined)
    throw new InvalidOptionError('policy-config-file', 'is not possible beside config');
  if (config !== undefined) return readConfiguration(await textOf('config', config));
  if (policyConfigFile === undefined) return defaultConfiguration();
  const { configuration, warnings } = translatePolicy(await textOf('policy-config-file', policyConfigFile));
  for (const warning of warnings) logger.warn(warning);
  return compileConfiguration(configuration);
}

function named(configuration: SchedulerConfiguration, name: string | undefined): SchedulerConfiguration {
  if (name === undefined) return configuration;
  const [profile, another] = configuration.profiles;
  if (!profile || another)
    throw new InvalidOptionError('scheduler-name', 'the configuration names its profiles itself');
  return { ...configuration, profiles: [{ ...profile, schedulerName: name }] };
}

async function textOf(option: string, file: string): Promise<string> {
  try {
    return await readNamedFile(file);
  } catch (error) {
    throw new InvalidOptionError(option, errorMessage(error), { cause: error });
  }
}

/** A module runs with all rights of the scheduler, so other users must not write it. A missing one is reported by its reader. */
async function assertOursAlone(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found && (found.mode & WRITABLE_BY_ALL) !== 0 && process.platform !== 'win32')
    throw new InvalidOptionError('plugins', `every user of this machine may change ${file} (chmod o-w)`);
}

async function loadPlugins(file: string): Promise<readonly SchedulerPluginDefinition[]> {
  await assertOursAlone(file);
  let loaded: { readonly default?: unknown };
  try {
    await assertNamedFile(file);
    loaded = (await import(pathToFileURL(resolve(file)).href)) as typeof loaded;
  } catch (error) {
    throw new InvalidOptionError('plugins', `${file}: ${errorMessage(error)}`, { cause: error });
  }
  const found: readonly unknown[] = Array.isArray(loaded.default) ? loaded.default : [loaded.default];
  if (!found.every(isDefinition))
    throw new InvalidOptionError(
      'plugins',
      `the default export of ${file} is neither what defineSchedulerPlugin returns nor a list of that`,
    );
  return found;
}

function isDefinition(value: unknown): value is SchedulerPluginDefinition {
  const { create, name, weight }: Partial<SchedulerPluginDefinition> = value ?? {};
  return typeof create === 'function' && typeof name === 'string' && typeof weight === 'number';
}
