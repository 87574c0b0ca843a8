import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';

/** The options of {@link loadKubeconfig}. */
export interface LoadKubeconfigOptions {
  /** @default the files in `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  path?: string;
  /** @default the file's current-context */
  context?: string;
  clock: Clock;
  /** @default silent */
  logger?: Logger;
  /** @default process.env */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * Whether no user has chosen the file, for example one that was found in the current folder. Then it may not name programs
   * (`exec`, `auth-provider`), files outside of its own folder, a proxy, or a server on another machine: such a file may have come
   * with a folder from elsewhere. @default false
   */
  isFound?: boolean;
  /** Whether credential plugins may prompt on standard input. @default whether it is a terminal */
  isTerminal?: boolean;
}
