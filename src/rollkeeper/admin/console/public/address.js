// The address of the page: tab, selection, filters and what is open, so that links and the back button work.

/** Parameter, field of the state, its value where the parameter is absent, and the tab that it belongs to. */
const FIELDS = [
  ['deployment', 'selected', undefined, 'rollouts'],
  ['find', 'search', '', 'rollouts'],
  ['show', 'filter', 'all', 'rollouts'],
  ['look', 'look', 'now', 'rollouts'],
  ['at', 'at', undefined, 'rollouts'],
  ['problem', 'problemSearch', '', 'problems'],
  ['object', 'object', undefined, 'objects'],
  ['kind', 'objectKind', 'pods', 'objects'],
  ['namespace', 'objectNamespace', '', 'objects'],
  ['name', 'objectSearch', '', 'objects'],
  ['queue', 'queueShown', 'deployment', 'queues'],
  ['trace', 'trace', undefined, undefined],
  ['ask', 'ask', undefined, undefined],
  ['hand-over', 'handOver', undefined, undefined],
];

/** The part of the state that an address says; what belongs to other tabs is left out. */
export function readAddress({ hash, search }, tabs) {
  const params = new URLSearchParams(search);
  const named = hash.slice(1);
  const tab = tabs.includes(named) ? named : params.has('object') ? 'objects' : 'rollouts';
  const said = FIELDS.filter(([, , , of]) => of === undefined || of === tab).map(
    ([param, field, fallback]) => [field, params.get(param) ?? fallback],
  );
  return { tab, ...Object.fromEntries(said) };
}

/** The address of a state: the path, with what is not as usual. */
export function addressOf(state) {
  const params = new URLSearchParams();
  for (const [param, field, fallback, of] of FIELDS) {
    const value = state[field];
    const isShown = of === undefined || of === state.tab;
    if (isShown && value !== undefined && value !== fallback) params.set(param, value);
  }
  const query = params.toString();
  return `${location.pathname}${query === '' ? '' : `?${query}`}#${state.tab}`;
}

/** The subject of a question: a verb and the path of an object, and of a way back the revision. */
export function parseAsk(ask) {
  const [, verb, path, revision] = /^([\w-]+):([^@]+)(?:@(\d+))?$/.exec(ask ?? '') ?? [];
  return verb === undefined ? undefined : { verb, path, revision };
}
