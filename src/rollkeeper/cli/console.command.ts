import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { print, runOnce } from '@rollkeeper/machinery/process';
import type { SignInCode } from '../admin/sign-in/index.js';
import type { AdminClientFlags } from './admin-client.js';
import { addAdminOptions, askReplica } from './admin-client.js';
import type { OutputFlags } from './output.js';
import { addOutputOptions, outputForm, printable } from './output.js';
import type { ApiFlags } from './shared-options.js';
import { addApiOptions } from './shared-options.js';

interface ConsoleFlags extends AdminClientFlags, ApiFlags, OutputFlags {}

/** `rollkeeper console`: a link that signs a browser in. */
export function registerConsoleCommand(program: Command): void {
  const command = addApiOptions(
    addAdminOptions(program.command('console')),
    'sign in with the token of this kubeconfig; the replicas need --admin-auth=delegated',
  );
  addOutputOptions(command, ['json', 'yaml'])
    .description(
      'print a link that opens the console and signs the browser in, with the admin token or your own token. The link is valid once, for five minutes',
    )
    .action((flags: ConsoleFlags) => runOnce(() => printLink(flags)));
}

async function printLink(flags: ConsoleFlags): Promise<void> {
  const form = outputForm(flags, ['json', 'yaml']);
  const token = await ownToken(flags);
  const { answer, url } = await askReplica<SignInCode>(flags, '/admin/sign-in', { body: {} }, token);
  const { code, ends } = answer;
  const { signInLink } = await import('../admin/sign-in/index.js');
  const link = signInLink(url, { code });
  if (form !== 'text') return print(await printable(form, { link, ends }));
  print(link);
}

/** Undefined: no kubeconfig is named, so the admin token is used. @throws InvalidOptionError */
async function ownToken({ adminTokenFile, context, kubeconfig }: ConsoleFlags): Promise<string | undefined> {
  if (kubeconfig === undefined && context === undefined) return undefined;
  if (adminTokenFile !== undefined)
    throw new InvalidOptionError('admin-token-file', 'conflicts with --kubeconfig and --context');
  const { loadKubeconfig } = await import('@rollkeeper/client/api-client');
  const { SystemClock } = await import('@rollkeeper/machinery/clock');
  const { credentials } = await loadKubeconfig({ path: kubeconfig, context, clock: new SystemClock() });
  const { authorization = '' } = await credentials.headers();
  const token = /^Bearer +(\S+)$/i.exec(String(authorization))?.[1];
  if (token === undefined)
    throw new InvalidOptionError('kubeconfig', 'the user has no bearer token to sign in with');
  return token;
}
