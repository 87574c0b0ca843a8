/** `GET /version`. Clients compare `major` and `minor` with their own. */
export function serverVersion(): object {
  return {
    major: '1',
    minor: '32',
    gitVersion: 'v1.32.0+rollkeeper',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'none',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
