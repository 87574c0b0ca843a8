import type { Fault, FaultKind } from './fault.js';
import * as answers from './answer-faults.js';
import * as inside from './inside-faults.js';
import * as links from './link-faults.js';
import * as losses from './loss-faults.js';
import { refuseThenMend } from './park-fault.js';
import * as processes from './process-faults.js';
import * as watches from './watch-faults.js';

const { aFollower, endApiServer, endRedis, endReplica, failOverRedis } = processes;
const { pauseInWrite, pauseReplica, theLeader } = processes;
const { apiLink, cutLink, holdOneWay, leaderLosesRedis, pausedLeaderLosesRedis } = links;
const { redisLink, slowLink, stallLink } = links;

/** How each kind is made. */
export const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  'kill leader': endReplica(theLeader, 'SIGKILL'),
  'kill follower': endReplica(aFollower, 'SIGKILL'),
  'stop leader': endReplica(theLeader, 'SIGTERM'),
  'stop follower': endReplica(aFollower, 'SIGTERM'),
  'pause leader': pauseReplica(theLeader),
  'pause working follower': pauseInWrite(aFollower),
  'leader loses its Redis connections': leaderLosesRedis,
  'leader loses its Redis connections while paused': pausedLeaderLosesRedis,
  'kill scheduler': processes.endScheduler('SIGKILL'),
  'stop scheduler': processes.endScheduler('SIGTERM'),
  'pause scheduler': processes.pauseScheduler,
  'kill API server': endApiServer('SIGKILL'),
  'stop API server': endApiServer('SIGTERM'),
  'kill Redis': endRedis('SIGKILL'),
  'stop Redis': endRedis('SIGTERM'),
  'Redis fails over': failOverRedis(1),
  'Redis fails over twice': failOverRedis(2),
  'Redis link cut': cutLink(redisLink),
  'Redis link stalled': stallLink(redisLink),
  'Redis link slow': slowLink(redisLink),
  'Redis link one-way to server': holdOneWay(redisLink, 'toClient'),
  'Redis link one-way to client': holdOneWay(redisLink, 'toServer'),
  'API link cut': cutLink(apiLink),
  'API link stalled': stallLink(apiLink),
  'API link slow': slowLink(apiLink),
  'API link one-way to server': holdOneWay(apiLink, 'toClient'),
  'API link one-way to client': holdOneWay(apiLink, 'toServer'),
  'API answers 409': answers.answer409,
  'API answers 429': answers.answer429,
  'API answers 500': answers.answer500,
  'API answers 500 after the write': answers.answer500Afterwards,
  'API answers 503': answers.answer503,
  'API answers half-sent': answers.halfSent,
  'API hangs before the write': answers.hangBefore,
  'API hangs after the write': answers.hangAfter,
  'watch cut': watches.cutWatches,
  'watch delayed': watches.delayWatches,
  'watch ended by 410': watches.endWatchesBy410,
  'event loop blocked': inside.blockEventLoop,
  'clock forward': inside.stepClock(1),
  'clock back': inside.stepClock(-1),
  'a refusal parks a key': refuseThenMend,
  'Redis loses everything': losses.loseRedisData,
  'Redis restarts empty': losses.restartRedisEmpty,
  'Redis goes back': losses.setRedisBack,
  'Redis is replaced by an older one': losses.replaceRedisByOlder,
  'the Lease is deleted': losses.deleteLease,
  'pause working leader': pauseInWrite(theLeader),
  'lease writes hang': answers.leaseWritesHang,
  'clock of the leader a little forward': inside.stepLeaderClock(1),
  'clock of the leader a little back': inside.stepLeaderClock(-1),
};
