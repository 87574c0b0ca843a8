import type { WorldBug } from './planted-bug.js';

/** A quick world. A seed that does not find its bug costs as much time again. */
const FIRST_SEED = 3;

/** Found by the world with slots. */
export const SLOT_BUGS: readonly WorldBug[] = [
  {
    name: 'slot-begins-without-its-keys',
    breaks: 'A new owner of a slot adds none of its keys',
    under: [],
    slots: true,
    firstSeed: 4,
    withinSeeds: 4,
    file: 'src/runtime/manager/slotted-work.ts',
    from: '(slots) => built.watch(within((namespace) => slots.has(held.slotOf(namespace))))()',
    to: '() => undefined',
  },
  {
    name: 'new-owner-decides-on-an-old-copy',
    breaks: 'A new owner of a slot does not wait until its copy shows what the former one wrote',
    under: ['watches are held', 'a replica is restarted'],
    slots: true,
    firstSeed: FIRST_SEED,
    withinSeeds: 4,
    file: 'src/runtime/controller/caught-up.ts',
    from: 'behind.length === 0',
    to: 'behind.length >= 0',
  },
  {
    name: 'dead-owner-keeps-its-slots',
    breaks: 'The slots of a replica that has died stay with it',
    under: [],
    slots: true,
    firstSeed: FIRST_SEED,
    withinSeeds: 4,
    file: 'src/runtime/slots/decide-slots.ts',
    from: 'alive(owner) === NO_REPLICA',
    to: 'owner === NO_REPLICA',
  },
  {
    name: 'former-owner-goes-on',
    breaks: 'A replica goes on to work on a slot that another one owns',
    under: [],
    slots: true,
    firstSeed: FIRST_SEED,
    withinSeeds: 4,
    file: 'src/runtime/slots/slot-keeper.ts',
    from: 'held.endOthers(owned);',
    to: 'this.standbys = standby.length;',
  },
  {
    name: 'slots-move-without-end',
    breaks: 'Slots move on and on between replicas that have about as many',
    under: [],
    slots: true,
    firstSeed: FIRST_SEED,
    withinSeeds: 4,
    file: 'src/runtime/slots/decide-slots.ts',
    from: 'difference <= (to === first ? 1 : TOLERATED)',
    to: 'difference <= 0',
  },
];
