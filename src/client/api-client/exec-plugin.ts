import { spawn } from 'node:child_process';
import * as z from 'zod';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The supported protocol versions; Kubernetes removed `v1alpha1` in 1.24. */
const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;

const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;

/** `user.exec` of a kubeconfig. */
export const execConfigSchema = z
  .object({
    apiVersion: z.enum(EXEC_API_VERSIONS, `must be ${EXEC_API_VERSIONS.join(' or ')}`),
    command: z.string().min(1),
    args: z.array(z.string()).nullish(),
    env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
    installHint: z.string().nullish(),
    provideClusterInfo: z.boolean().nullish(),
    interactiveMode: z.enum(INTERACTIVE_MODES).nullish(),
  })
  .refine(({ apiVersion, interactiveMode }) => interactiveMode || !apiVersion.endsWith('/v1'), {
    path: ['interactiveMode'],
    message: `must be ${INTERACTIVE_MODES.join(', ')} with client.authentication.k8s.io/v1`,
  });

type ExecConfig = z.infer<typeof execConfigSchema>;

export interface ExecPluginOptions {
  readonly config: ExecConfig;
  /** `spec.cluster` of the plugin's input, if it asks for it. */
  readonly cluster?: unknown;
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean;
}

/** The answer of a plugin. */
interface ExecCredential {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly expiresAtMs?: number;
}

/** Timeout of a plugin that is not interactive. */
const PLUGIN_TIMEOUT_MS = 60_000;
/** A credential is some kilobytes long. Characters. */
const LONGEST_ANSWER = 1024 * 1024;
/** Limit of the plugin's stderr that is shown. */
const COMPLAINT_LENGTH = 1000;

/** Runs a client-go credential plugin once. Rejects with its error output and the install hint. */
export async function runExecPlugin({
  cluster,
  config,
  isTerminal,
}: ExecPluginOptions): Promise<ExecCredential> {
  const interactive = isTerminal && config.interactiveMode !== 'Never';
  if (config.interactiveMode === 'Always' && !interactive)
    throw new Error('the plugin wants to ask a person (interactiveMode: Always), and there is no terminal');
  const spec = { interactive, ...(config.provideClusterInfo && cluster !== undefined && { cluster }) };
  const info = { kind: 'ExecCredential', apiVersion: config.apiVersion, spec };
  const env = Object.fromEntries((config.env ?? []).map(({ name, value }) => [name, value]));
  const output = await run(config, { ...env, KUBERNETES_EXEC_INFO: stringifyJson(info) }, interactive);
  return parseExecCredential(output, config.apiVersion);
}

const text = z.string().nullish();
const credentialSchema = z.object({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z
    .object({
      token: text,
      clientCertificateData: text,
      clientKeyData: text,
      expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
    })
    .refine(({ clientCertificateData, clientKeyData }) => !clientCertificateData === !clientKeyData, {
      message: 'clientCertificateData and clientKeyData belong together',
    })
    .refine(({ clientCertificateData, token }) => token || clientCertificateData, {
      message: 'has neither a token nor a client certificate',
    }),
});

/** @throws Error that describes the problem without the answer itself, which may hold secrets */
export function parseExecCredential(output: string, apiVersion: string): ExecCredential {
  let parsed: unknown;
  try {
    parsed = parseJson(output);
  } catch {
    throw new Error('the plugin answered something that is not JSON');
  }
  const credential = compileOptions(credentialSchema, parsed, 'the answer of the plugin');
  if (credential.apiVersion !== apiVersion)
    throw new Error(`the plugin answered in ${credential.apiVersion}, and ${apiVersion} was asked for`);
  const { clientCertificateData, clientKeyData, expirationTimestamp, token } = credential.status;
  return {
    ...(token && { token }),
    ...(clientCertificateData &&
      clientKeyData && { certificate: { cert: clientCertificateData, key: clientKeyData } }),
    ...(expirationTimestamp && { expiresAtMs: Date.parse(expirationTimestamp) }),
  };
}

function run(config: ExecConfig, env: Record<string, string>, interactive: boolean): Promise<string> {
  const fail = (problem: string, cause?: unknown): Error => {
    const hint = config.installHint ? `\n${config.installHint}` : '';
    return new Error(`${problem}${hint}`, { cause });
  };
  const program = (path: string | undefined): string => {
    try {
      return findProgram(config.command, path);
    } catch (error) {
      throw fail(errorMessage(error), error);
    }
  };
  return new Promise((resolve, reject) => {
    const all = { ...process.env, ...env };
    const child = spawn(program(all.PATH), config.args ?? [], {
      env: all,
      // An interactive plugin needs our stdin and stderr.
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
      ...(!interactive && { timeout: PLUGIN_TIMEOUT_MS }),
    });
    let [output, complaint] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (data: string) => {
      output += data;
      if (output.length <= LONGEST_ANSWER) return;
      child.kill('SIGKILL');
      reject(fail(`${config.command} answered more than ${LONGEST_ANSWER} characters`));
    });
    child.stderr?.setEncoding('utf8').on('data', (data: string) => {
      complaint = (complaint + data).slice(-COMPLAINT_LENGTH);
    });
    child.on('error', (error) => reject(fail(`${config.command}: ${errorMessage(error)}`, error)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(fail(complaint.trim() || `${config.command} ended with ${signal ?? `code ${code}`}`));
    });
  });
}

/** Whether a file can be run. */
type CanRun = (file: string) => boolean;

/**
 * The program that a kubeconfig names. A name without a folder is looked for in the absolute folders of `PATH`: a relative one, such as
 * `.`, would run what lies in the folder that a command happens to run in. Same as client-go, which runs no such program either.
 * @param command as in the file; a path is absolute by now
 * @throws Error if no absolute folder has it
 */
export function findProgram(command: string, path: string | undefined, canRun: CanRun = isProgram): string {
  // Windows looks for names by rules of its own.
  if (/[/\\]/.test(command) || process.platform === 'win32') return command;
  const files = (path ?? '').split(delimiter).map((folder) => join(folder === '' ? '.' : folder, command));
  const found = files.find((file) => isAbsolute(file) && canRun(file));
  if (found !== undefined) return found;
  const inFolder = files.some((file) => !isAbsolute(file) && canRun(file));
  throw new Error(
    inFolder
      ? `${command}: only a relative folder of PATH has this program, and such programs are not run`
      : `${command}: no folder of PATH has this program`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
