/** A difference of our surface from the recorded one, and why it stays. */
interface SurfaceDifference {
  /** Ids of the recorded cases. */
  readonly cases: readonly string[];
  /** For docs/API.md, which lists them. */
  readonly why: string;
}

export const SURFACE_DIFFERENCES: readonly SurfaceDifference[] = [
  {
    cases: ['discovery: / order', 'discovery: /apis order'],
    why: '`metrics.k8s.io` is there without an extension API server',
  },
  {
    cases: ['paths: /livez?verbose'],
    why: '`/livez` does not ask the store (`[+]etcd excluded: ok`): a server that is restarted because its store is away comes back no better',
  },
  {
    cases: ['paths: /debug/pprof/'],
    why: 'there are no profiles of Go below `/debug/pprof/`',
  },
  {
    cases: ['wire continue: continue other resource'],
    why: 'a continue token is good for the list alone that it was made for',
  },
  {
    cases: ['wire exact: exact rv 1'],
    why: 'the first version of the recorded store was forgotten already; ours goes back for as long as its log does',
  },
  {
    cases: ['wire watchlist: watchlist table'],
    why: 'one object more was there at that moment of the recording',
  },
  {
    cases: ['wire watch: watch future'],
    why: 'a watch that begins after the newest version ends with an error event (504): after a store was restored, its clients have to list again',
  },
  {
    cases: ['wire watch: watch yaml'],
    why: 'long texts in YAML stay in one line, in double quotes',
  },
];

/** Why a recorded case differs; empty if it should not. */
export function reasonsFor(id: string): readonly string[] {
  return SURFACE_DIFFERENCES.filter(({ cases }) => cases.includes(id)).map(({ why }) => why);
}
