// One filter over rollouts: words anywhere, FIELD:word, or FIELD:=WHOLE; all of them have to fit, those after a minus must not.

const FIELDS = {
  name: ({ key }) => [key.split('?')[0].split('/')[1]],
  namespace: ({ key }) => [key.split('/')[0]],
  kind: ({ kind }) => (kind === undefined ? [] : [kind]),
  image: ({ sets }) => sets.flatMap(({ images }) => images),
  label: ({ labels = [] }) => labels,
  owner: ({ owner }) => (owner === undefined ? [] : [owner]),
  node: ({ nodes = [] }) => nodes,
  release: ({ release }) => (release === undefined ? [] : [release]),
  state: ({ cause, state, stateWord }) => [state, stateWord, cause].filter(Boolean),
};
const SHORT = { ns: 'namespace', labels: 'label', nodes: 'node', images: 'image', is: 'state' };

/** The words of a filter. */
export function parseFind(text) {
  return text
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const isNot = word.startsWith('-') && word.length > 1;
      const rest = isNot ? word.slice(1) : word;
      const colon = rest.indexOf(':');
      const named = colon > 0 ? rest.slice(0, colon) : '';
      const field = SHORT[named] ?? named;
      // `nginx:1.27` is no field.
      if (!Object.hasOwn(FIELDS, field)) return { field: undefined, text: rest, isNot, isWhole: false };
      const asked = rest.slice(colon + 1);
      const isWhole = asked.startsWith('=') && asked.length > 1;
      return { field, text: isWhole ? asked.slice(1) : asked, isNot, isWhole };
    });
}

/** Whether a rollout fits. @param item with the word of its state as `stateWord` */
export function fits(item, terms) {
  return terms.every(({ field, isNot, isWhole, text }) => {
    const values = field === undefined ? everythingOf(item) : FIELDS[field](item);
    const has = (value) => (isWhole ? value === text : value.includes(text));
    return values.some((value) => has(value.toLowerCase())) !== isNot;
  });
}

function everythingOf(item) {
  return [item.key, ...Object.values(FIELDS).flatMap((valuesOf) => valuesOf(item))];
}
