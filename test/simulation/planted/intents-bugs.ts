import type { ModelBug } from './planted-bug.js';

const INTENTS = 'src/controllers/replicaset/pod-intents.ts';
const RESOLVE = 'src/controllers/replicaset/resolve-intents.ts';
const STATE = 'src/runtime/activation/stored-lock.ts';

export const INTENTS_BUGS: readonly ModelBug[] = [
  {
    name: 'intents-forgotten',
    breaks: 'The intents of a killed sync are forgotten',
    model: 'intents',
    withinFaults: 1,
    file: INTENTS,
    from: 'if (candidate.version !== 1 || candidate.ownerUid !== ownerUid) return none;',
    to: 'if (candidate.version !== undefined || candidate.ownerUid !== ownerUid) return none;',
  },
  {
    name: 'creation-not-looked-up',
    breaks: 'A creation without an answer is not looked up',
    model: 'intents',
    withinFaults: 1,
    file: INTENTS,
    from: 'probeCreates: intents.creates.filter((name) => cachedPod(name) === undefined),',
    to: 'probeCreates: intents.creates.filter((name) => cachedPod(name) === undefined && name === undefined),',
  },
  {
    name: 'found-pod-not-counted',
    breaks: 'A pod that the cache does not show yet is not counted, although the server has it',
    model: 'intents',
    withinFaults: 1,
    file: RESOLVE,
    from: '...existing.filter((pod) => isPodActive(pod)),',
    to: '...existing.filter((pod) => isPodActive(pod) && isPodTerminating(pod)),',
  },
  {
    name: 'name-not-reused',
    breaks: 'A creation that may still arrive is repeated under another name',
    model: 'intents',
    withinFaults: 1,
    file: RESOLVE,
    from: 'freeNames: probeCreates.filter((_, index) => created[index] === undefined),',
    to: 'freeNames: probeCreates.filter((_, index) => created[index] === undefined && index < 0),',
  },
  {
    name: 'own-writes-dropped',
    breaks: 'A sync waits for no write of the one before it',
    model: 'intents',
    withinFaults: 0,
    file: STATE,
    from: 'return newestOfEach(causes, ownWrites);',
    to: 'return newestOfEach(causes, ownWrites && {});',
  },
  {
    name: 'own-writes-not-stored',
    breaks: 'A sync that ends does not store which versions it wrote',
    model: 'intents',
    withinFaults: 0,
    file: STATE,
    from: 'ownWrites: newestOfEach(state.ownWrites, final.ownWrites),',
    to: 'ownWrites: state.ownWrites,',
  },
  {
    name: 'settled-without-version',
    breaks: 'An intent is settled by a cache that is ahead, and the next sync need not have seen as much',
    model: 'intents',
    withinFaults: 1,
    file: RESOLVE,
    from: 'return pods.map((pod) => pod?.metadata.resourceVersion).reduce(newerResourceVersion, gone);',
    to: 'return pods.map(() => undefined).reduce(newerResourceVersion, gone);',
  },
  {
    name: 'deletion-forgotten',
    breaks: 'A deletion is forgotten once it is answered, although no cache shows it yet',
    model: 'intents',
    withinFaults: 1,
    file: RESOLVE,
    from: 'deletes: stored.deletes.filter(({ uid }) => !uids.has(uid)) };',
    to: 'deletes: stored.deletes.filter(({ uid }) => uids.has(uid)) };',
  },
  {
    name: 'intent-never-ends',
    breaks: 'An intent never ends: the release of the key does not clear it',
    model: 'intents',
    withinFaults: 0,
    file: STATE,
    from: 'intents: final.clearIntents ? undefined : state.intents,',
    to: 'intents: final.clearIntents && state.intents === null ? undefined : state.intents,',
  },
];
