export type { ServiceName } from './formats/channel.js';
export { ChannelError, readChannel } from './formats/channel.js';
export type { Notification } from './formats/notification.js';
export type { MailSender } from './mail-sender.js';
export { smtpSender } from './mail-sender.js';
export { sendNotification } from './send.js';
export { Notifications } from './notifications.js';
export type { NotificationResult } from './notifications.js';
