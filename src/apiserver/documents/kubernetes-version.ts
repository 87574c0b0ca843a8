import { NAMES_VERIFIED } from '@rollkeeper/machinery/kubernetes';

/** The release of Kubernetes that the API is the same as: its types, defaults, default-on features and words. */
export const KUBERNETES_VERSION = { major: '1', minor: '36', gitVersion: 'v1.36.2' } as const;

/** In place of the release of Go that a genuine server was built with. */
export const NO_GO = 'none';

type VersionField =
  | 'major'
  | 'minor'
  | 'emulationMajor'
  | 'emulationMinor'
  | 'minCompatibilityMajor'
  | 'minCompatibilityMinor'
  | 'gitVersion'
  | 'gitCommit'
  | 'gitTreeState'
  | 'buildDate'
  | 'goVersion'
  | 'compiler'
  | 'platform';

/**
 * `GET /version`. Clients compare `major` and `minor` with their own. How the server itself was built is not said: it is no build of
 * Kubernetes.
 */
export function serverVersion(): Readonly<Record<VersionField, string>> {
  const { major, minor, gitVersion } = KUBERNETES_VERSION;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '35',
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: NO_GO,
    compiler: NAMES_VERIFIED,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
