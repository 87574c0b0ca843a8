import { spawnSync } from 'node:child_process';

export interface Kubectl {
  /** `kubectl 1.32`. */
  readonly name: string;
  readonly binary: string;
}

/** Each kubectl that can be had here: the one in PATH, and Debian's old one where the test command found it. */
export function kubectls(): readonly Kubectl[] {
  const found = [process.env['ROLLKEEPER_OLD_KUBECTL'], 'kubectl'].flatMap((binary) => {
    const version = binary && versionOf(binary);
    return version ? [{ name: `kubectl ${version}`, binary }] : [];
  });
  return found.filter(({ name }, index) => found.findIndex((other) => other.name === name) === index);
}

/** The one in PATH, for tests that need only one. */
export function anyKubectl(): Kubectl | undefined {
  return kubectls().at(-1);
}

/** The versions at which the supported range is tested; a skipped test names a missing one. */
export const WANTED_MINORS = ['1.20', '1.32'];

function versionOf(binary: string): string | undefined {
  const { status, stdout } = spawnSync(binary, ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const { clientVersion } = JSON.parse(stdout) as { clientVersion: { major: string; minor: string } };
  return `${clientVersion.major}.${clientVersion.minor.replace(/\D/g, '')}`;
}
