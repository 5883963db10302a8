// Which schema of the interface has which name among the SDK's types. The shapes themselves are written
// nowhere but in the schemas; this is their table of contents, in the order of the generated files.

import { type TSchema, Type } from 'typebox'
import { EventItem, EventKindSchema } from '../../server/http/answers/event-text.ts'
import {
  ChangedDeliverySchema,
  TestResultSchema,
} from '../../server/http/routes/both/delivery-actions.ts'
import { FeedPage } from '../../server/http/routes/both/events.ts'
import { OperatorSearchHit, SearchHit } from '../../server/http/routes/both/search.ts'
import { PublicChain } from '../../server/http/routes/client/client-certificates.ts'
import { NoticeSchema, NoticesSchema } from '../../server/http/routes/client/notices.ts'
import { withHealth } from '../../server/http/routes/client/one-endpoint.ts'
import {
  EndpointOfPaymentSchema,
  OwnPaymentDetail,
  OwnPaymentSchema,
  PaymentDeliveries,
} from '../../server/http/routes/client/own-payments.ts'
import { OwnStatsSchema } from '../../server/http/routes/client/own-stats.ts'
import {
  CheckedStepSchema,
  DiagnosisSchema,
  FindingCodeSchema,
  ReportSchema,
} from '../../server/http/routes/client/receiver-tools.ts'
import { ListedItem, OwnEndpointQuery } from '../../server/http/routes/client/webhooks.ts'
import { Session } from '../../server/http/routes/open/console.ts'
import {
  AuditChangeSchema,
  AuditItem,
  AuditListQuery,
} from '../../server/http/routes/operator/operator-audit.ts'
import {
  FindingSchema,
  SealedSegmentSchema,
  SealHeadSchema,
  VerifiedAuditSchema,
} from '../../server/http/routes/operator/operator-audit-seal.ts'
import { Filter } from '../../server/http/routes/operator/operator-bulk.ts'
import { CellSchema } from '../../server/http/routes/operator/operator-cells.ts'
import {
  CertificateItem,
  FollowingEndpoints,
} from '../../server/http/routes/operator/operator-certificates.ts'
import { ClientKeyItem } from '../../server/http/routes/operator/operator-client-keys.ts'
import {
  AccountItem,
  ClientItem,
  ClientWithSecrets,
  ConsoleLink,
  NewClient,
  NewSecret,
} from '../../server/http/routes/operator/operator-clients.ts'
import {
  EndpointListQuery,
  Hour,
  Item,
  ItemWithHealth,
} from '../../server/http/routes/operator/operator-endpoints.ts'
import { KeyItem, NewKey, RoleSchema } from '../../server/http/routes/operator/operator-keys.ts'
import { ErasedSchema } from '../../server/http/routes/operator/operator-payment-erasure.ts'
import {
  EventWithDeliveriesItem,
  ListQuery,
  OperatorPayment,
} from '../../server/http/routes/operator/operator-payment-views.ts'
import { LineSchema, WrittenSchema } from '../../server/http/routes/operator/operator-payments.ts'
import { Setting } from '../../server/http/routes/operator/operator-settings.ts'
import { RevokedKey } from '../../server/http/routes/operator/operator-signing-keys.ts'
import {
  EndedDaySchema,
  PeriodSchema,
  StatsSchema,
  TroubledSchema,
} from '../../server/http/routes/operator/operator-stats.ts'
import {
  AttemptSchema,
  CursorPageOf,
  DeliveryDetailSchema,
  DeliverySchema,
  ExplanationPartSchema,
  OperatorDeliveryDetailSchema,
  OperatorDeliveryListQuery,
  OperatorDeliverySchema,
  SentRequestSchema,
  SignatureInputsSchema,
  StateSchema,
} from '../../server/http/schemas/delivery-schema.ts'
import { KindSchema } from '../../server/http/schemas/endpoint-list-schema.ts'
import { Oauth2Request, Oauth2Shown } from '../../server/http/schemas/endpoint-oauth2-schema.ts'
import {
  DeliverSchema,
  DocumentModeSchema,
  EventChoiceSchema,
  SettingsSchema,
  SignatureKindSchema,
  TlsRequest,
  TlsShown,
} from '../../server/http/schemas/endpoint-settings-schema.ts'
import {
  CountedEndpointSchema,
  JobDetailSchema,
  JobOutcomeSchema,
  JobSchema,
} from '../../server/http/schemas/job-schema.ts'
import {
  ListenerSchema,
  OfferSchema,
  OutcomeBody,
} from '../../server/http/schemas/listener-schema.ts'
import { PageOf } from '../../server/http/schemas/page.ts'
import {
  DocumentSchema,
  DocumentWithFile,
  LineWriteSchema,
  MoneySchema,
  PaymentSchema,
  PaymentStateSchema,
  PurposeSchema,
  StatusWriteSchema,
} from '../../server/http/schemas/payment-schema.ts'
import {
  CircuitSchema,
  EndpointItem,
  HealthSchema,
  ProblemSchema,
} from '../../server/http/schemas/schemas.ts'
import { SeriesPointSchema, SeriesSchema } from '../../server/http/schemas/series-schema.ts'
import {
  ReceiptClaims,
  StatementHourSchema,
  StatementSchema,
} from '../../server/http/schemas/statement-schema.ts'
import { View } from '../../server/sandbox/receiver-routes.ts'
import { AcceptedEventSchema, AttemptedEventSchema } from '../../server/telemetry/live-events.ts'

/** A schema that has a name. */
export interface Shape {
  name: string
  schema: TSchema
  /** Another shape, all of whose members it has: only what it adds is written. */
  base?: string
  /** Callers write it: what is optional may also be undefined. */
  isRequest?: true
  /** Written in sdk/src/wire/payment-parts.ts, because the SDK makes something better of it. */
  isByHand?: true
}

/** Stands where a list says what it is a list of. */
export const ITEM = Type.Unsafe<unknown>({ title: 'Item' })

/** What clients send and get: the SDK exports these. */
export const CLIENT_SHAPES: readonly Shape[] = [
  { name: 'PaymentState', schema: PaymentStateSchema },
  { name: 'PurposeOfPayment', schema: PurposeSchema },
  { name: 'EventKind', schema: EventKindSchema },
  { name: 'Money', schema: MoneySchema, isByHand: true },
  { name: 'PaymentDocument', schema: DocumentSchema, isByHand: true },
  { name: 'Payment', schema: PaymentSchema },
  { name: 'EndpointStatus', schema: EndpointItem.properties.status },
  { name: 'EventChoice', schema: EventChoiceSchema },
  { name: 'SignatureKind', schema: SignatureKindSchema },
  { name: 'DeliverMode', schema: DeliverSchema },
  { name: 'DocumentMode', schema: DocumentModeSchema },
  { name: 'EndpointTls', schema: TlsRequest, isRequest: true },
  { name: 'EndpointTlsShown', schema: TlsShown },
  { name: 'EndpointOauth2', schema: Oauth2Request, isRequest: true },
  { name: 'EndpointOauth2Shown', schema: Oauth2Shown },
  { name: 'EndpointSettings', schema: SettingsSchema, isRequest: true },
  { name: 'Endpoint', schema: EndpointItem },
  { name: 'Circuit', schema: CircuitSchema },
  { name: 'EndpointHealth', schema: HealthSchema },
  { name: 'SeriesPoint', schema: SeriesPointSchema },
  { name: 'Series', schema: SeriesSchema },
  { name: 'StatementHour', schema: StatementHourSchema },
  { name: 'Statement', schema: StatementSchema },
  { name: 'Receipt', schema: ReceiptClaims },
  { name: 'EndpointDetail', schema: withHealth(EndpointItem), base: 'Endpoint' },
  { name: 'EndpointKind', schema: KindSchema },
  { name: 'EndpointQuery', schema: OwnEndpointQuery, isRequest: true },
  { name: 'Webhook', schema: ListedItem, base: 'Endpoint' },
  { name: 'PublicCertificate', schema: PublicChain },
  { name: 'Listener', schema: ListenerSchema },
  { name: 'Notice', schema: NoticeSchema },
  { name: 'Notices', schema: NoticesSchema },
  { name: 'OwnStats', schema: OwnStatsSchema },
  { name: 'ListenerOffer', schema: OfferSchema },
  { name: 'ListenerOutcome', schema: OutcomeBody, isRequest: true },
  { name: 'Page<Item>', schema: PageOf(ITEM) },
  { name: 'CursorPage<Item>', schema: CursorPageOf(ITEM) },
  { name: 'DeliveryState', schema: StateSchema },
  { name: 'Delivery', schema: DeliverySchema },
  { name: 'DeliveryAttempt', schema: AttemptSchema },
  { name: 'ExplanationPart', schema: ExplanationPartSchema },
  { name: 'SentRequest', schema: SentRequestSchema },
  { name: 'DeliveryDetail', schema: DeliveryDetailSchema, base: 'Delivery' },
  { name: 'ReplayedDelivery', schema: ChangedDeliverySchema },
  { name: 'PaymentDeliveries', schema: PaymentDeliveries },
  { name: 'PaymentItem', schema: OwnPaymentSchema },
  { name: 'EndpointOfPayment', schema: EndpointOfPaymentSchema },
  { name: 'PaymentDetail', schema: OwnPaymentDetail, base: 'Payment' },
  { name: 'SearchHit', schema: SearchHit },
  { name: 'PaymentEvent', schema: EventItem },
  { name: 'EventPage', schema: FeedPage },
  { name: 'TestResult', schema: TestResultSchema },
  { name: 'FindingCode', schema: FindingCodeSchema },
  { name: 'Diagnosis', schema: DiagnosisSchema },
  { name: 'CheckedStep', schema: CheckedStepSchema },
  { name: 'CheckReport', schema: ReportSchema },
  { name: 'Problem', schema: ProblemSchema },
]

/** What the operator and those who feed payments in send and get: the SDK exports these as well. */
export const OPERATOR_SHAPES: readonly Shape[] = [
  { name: 'Role', schema: RoleSchema },
  { name: 'Account', schema: AccountItem },
  { name: 'ClientItem', schema: ClientItem },
  { name: 'ClientWithSecrets', schema: ClientWithSecrets, base: 'ClientItem' },
  { name: 'ClientKey', schema: ClientKeyItem },
  { name: 'NewClient', schema: NewClient },
  { name: 'NewSecret', schema: NewSecret },
  { name: 'ConsoleLink', schema: ConsoleLink },
  { name: 'ServiceCertificate', schema: CertificateItem },
  { name: 'FollowingEndpoints', schema: FollowingEndpoints },
  { name: 'OperatorKey', schema: KeyItem },
  { name: 'NewOperatorKey', schema: NewKey },
  { name: 'RevokedKey', schema: RevokedKey },
  { name: 'AuditChange', schema: AuditChangeSchema },
  { name: 'AuditItem', schema: AuditItem },
  { name: 'AuditQuery', schema: AuditListQuery, isRequest: true },
  { name: 'AuditFinding', schema: FindingSchema },
  { name: 'AuditSegment', schema: SealedSegmentSchema },
  { name: 'AuditHead', schema: SealHeadSchema, base: 'AuditSegment' },
  { name: 'VerifiedAudit', schema: VerifiedAuditSchema },
  { name: 'Setting', schema: Setting },
  { name: 'DocumentWithFile', schema: DocumentWithFile },
  { name: 'PaymentStatusWrite', schema: StatusWriteSchema, isRequest: true },
  { name: 'PaymentLine', schema: LineWriteSchema, isRequest: true },
  { name: 'WrittenPayment', schema: WrittenSchema },
  { name: 'WrittenLine', schema: LineSchema },
  { name: 'OperatorPaymentQuery', schema: ListQuery, isRequest: true },
  { name: 'OperatorPayment', schema: OperatorPayment, base: 'Payment' },
  { name: 'OperatorPaymentEvent', schema: EventWithDeliveriesItem, base: 'PaymentEvent' },
  { name: 'ErasedPayment', schema: ErasedSchema },
  { name: 'OperatorDeliveryQuery', schema: OperatorDeliveryListQuery, isRequest: true },
  { name: 'DeliveryFilter', schema: Filter, isRequest: true },
  { name: 'OperatorDelivery', schema: OperatorDeliverySchema, base: 'Delivery' },
  { name: 'SignatureInputs', schema: SignatureInputsSchema },
  {
    name: 'OperatorDeliveryDetail',
    schema: OperatorDeliveryDetailSchema,
    base: 'OperatorDelivery',
  },
  { name: 'OperatorSearchHit', schema: OperatorSearchHit },
  { name: 'CountedEndpoint', schema: CountedEndpointSchema },
  { name: 'Job', schema: JobSchema },
  { name: 'JobOutcome', schema: JobOutcomeSchema },
  { name: 'JobDetail', schema: JobDetailSchema, base: 'Job' },
  { name: 'EndpointHour', schema: Hour },
  { name: 'OperatorEndpointQuery', schema: EndpointListQuery, isRequest: true },
  { name: 'OperatorEndpoint', schema: Item, base: 'Endpoint' },
  { name: 'OperatorEndpointDetail', schema: ItemWithHealth, base: 'OperatorEndpoint' },
  { name: 'StatsPeriod', schema: PeriodSchema },
  { name: 'EndedDay', schema: EndedDaySchema },
  { name: 'TroubledEndpoint', schema: TroubledSchema },
  { name: 'Stats', schema: StatsSchema },
  { name: 'CellItem', schema: CellSchema },
  { name: 'AcceptedEvent', schema: AcceptedEventSchema },
  { name: 'AttemptedEvent', schema: AttemptedEventSchema },
]

/** What only the console sends and gets. */
export const CONSOLE_SHAPES: readonly Shape[] = [
  { name: 'Session', schema: Session },
  { name: 'SandboxReceiver', schema: View },
]

/** Lists that a form or an option offers, as values. */
export const WORDS: Readonly<Record<string, string>> = {
  PAYMENT_STATES: 'PaymentState',
  PURPOSES: 'PurposeOfPayment',
  EVENT_KINDS: 'EventKind',
  DELIVERY_STATES: 'DeliveryState',
}
