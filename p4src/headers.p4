/*
 * Headers on the wire, metadata between the stages, and the numbers they share.
 */
#ifndef PHB_HEADERS_P4
#define PHB_HEADERS_P4

#include <core.p4>
#include <v1model.p4>

// ---------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------

typedef bit<9>  port_t;
typedef bit<48> mac_t;

// A policy is what one rule of a policy file becomes; 0 means that no rule matched.
typedef bit<16> policy_t;
typedef bit<12> stream_t;
typedef bit<8>  traffic_class_t;

// Which of two versions of the policies a packet is classified by, so that it never meets a mixture of them.
typedef bit<1>  version_t;

// What a port's own rows hang on (scheduler, limits, thresholds): each port whose policy has such rows has a number.
typedef bit<16> profile_t;

// simple_switch_grpc must be started with --cpu-port 510; phb-switch takes the same option.
const port_t CPU_PORT = 510;

// As many conversations as 16 ports with the largest fair queue that IOS takes have, 4096 each.
#define CONVERSATION_SLOTS 65536
#define PORTS 512
#define POLICIES 65536
// Behind them one slot for each port, for a queue without conversations.
#define QUEUES (CONVERSATION_SLOTS + PORTS)
#define STREAMS 4096
#define CLASSES 256
// Accounts of buffers, one for each stream at each port.
#define ACCOUNTS 8192

// The upper bits of a rank are a strict level, the lower bits a finish tag, which starts anew whenever the port is empty;
// see docs/operate/limits.md for how long a port may be busy before it saturates.
#define LEVEL_BITS 4
#define FINISH_BITS 60
typedef bit<LEVEL_BITS>  level_t;
typedef bit<FINISH_BITS> finish_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;

// Bytes of headers without options.
#define ETHERNET_BYTES 14
#define VLAN_BYTES 4
#define IPV4_BYTES 20
#define IPV6_BYTES 40

const bit<8> PROTOCOL_HOPOPT = 0;
const bit<8> PROTOCOL_ICMP   = 1;
const bit<8> PROTOCOL_TCP    = 6;
const bit<8> PROTOCOL_UDP    = 17;
const bit<8> PROTOCOL_ICMPV6 = 58;

// Why the pipeline dropped a packet. Index into drops and policy_drops; the controller's copy is tested against this list.
enum bit<5> DropReason {
    NONE                = 0,
    NOT_IP              = 1,
    BAD_CHECKSUM        = 2,
    NO_ROUTE            = 3,
    TTL_EXPIRED         = 4,
    DISCARD_ROUTE       = 5,
    BLOCKED             = 6,
    POLICED             = 7,
    HOLD_QUEUE          = 8,
    CONGESTIVE_DISCARD  = 9,
    WRED                = 10,
    CONNECTION_LIMIT    = 11,
    NO_BUFFER           = 12,
    QUEUE_LIMIT         = 13,
    MAXIMUM_RATE        = 14,
    PUSHED_OUT          = 15,
    OTHER_STATION       = 16,
    BROADCAST           = 17,
    TRUNCATED           = 18,
    MARTIAN             = 19,
    FOR_ROUTER          = 20,
    TOO_BIG             = 21,
    NO_NEIGHBOUR        = 22
}

// What a router's control plane gets instead of its being forwarded (RFC 1812 sections 4.2.2.7, 4.3.3.1, 4.3.3.4 and 5.2.4.2).
enum bit<7> ForwardingException {
    NONE         = 0,
    TTL_EXPIRED  = 1,
    NO_ROUTE     = 2,
    FOR_ROUTER   = 3,            // to one of its own addresses, or ARP
    OPTIONS      = 4,
    TOO_BIG      = 5,
    NO_NEIGHBOUR = 6
}

// RFC 2697 and RFC 2698 colours, numbered as v1model meters number them.
enum bit<2> Colour {
    GREEN  = 0,
    YELLOW = 1,
    RED    = 2
}

enum bit<2> Discipline {
    FIFO      = 0,
    FLOW_WFQ  = 1,
    CLASS_WFQ = 2
}

// ---------------------------------------------------------------------------
// Headers
// ---------------------------------------------------------------------------

@controller_header("packet_in")
header packet_in_t {
    port_t ingress_port;
    bit<7> exception;
}

@controller_header("packet_out")
header packet_out_t {
    port_t egress_port;
    bit<7> padding;
}

header ethernet_t {
    mac_t   destination;
    mac_t   source;
    bit<16> ethertype;
}

header vlan_t {                  // IEEE 802.1Q
    bit<3>  pcp;
    bit<1>  dei;
    bit<12> vid;
    bit<16> ethertype;
}

header ipv4_t {                  // RFC 791; the ToS octet is RFC 2474's DS field and RFC 3168's ECN field
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header ipv4_options_t {
    varbit<320> options;
}

header ipv6_t {                  // RFC 8200
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> source;
    bit<128> destination;
}

header tcp_t {                   // RFC 9293
    bit<16> source_port;
    bit<16> destination_port;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_t {
    bit<16> source_port;
    bit<16> destination_port;
    bit<16> length;
    bit<16> checksum;
}

header icmp_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
}

struct headers_t {
    packet_in_t    packet_in;
    packet_out_t   packet_out;
    ethernet_t     ethernet;
    vlan_t         vlan;
    ipv4_t         ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t         ipv6;
    tcp_t          tcp;
    udp_t          udp;
    icmp_t         icmp;
}

// ---------------------------------------------------------------------------
// Metadata
// ---------------------------------------------------------------------------

// The contract with the traffic manager. It sorts by `rank` and by nothing else; lower goes first. A packet that it drops
// itself meets egress once, with `dropped` set, and goes no further: what ingress has counted as queued is taken off there.
// A packet with `push_out` is taken only in the place of the one that would be served last, which is dropped, be it this
// one or one that waits (`pushed_out`). With a `rate` (bit/s) it takes its `bytes` of tokens from a bucket when it leaves, of
// its own port and a number of the program's choice, that fills at the rate up to the burst; while there are too few, packets
// behind it may leave.
struct tm_t {
    bit<64> rank;
    bit<32> bucket;
    bit<64> rate;
    bit<32> burst;
    bit<32> bytes;
    bit<1>  push_out;
    bit<1>  dropped;
    bit<1>  pushed_out;
}

struct flow_t {
    bit<8>  tos;
    bit<3>  pcp;                 // 0 where there is no tag
    bit<12> vlan;                // likewise
    bit<8>  protocol;
    bit<16> source_port;         // 0 where there is no port: other protocols, later fragments, truncated packets
    bit<16> destination_port;
    bit<17> flags_or_type;       // 1 and TCP's flags, or 1 and ICMP's type and code; 0 without either header: then no flag
                                 // is clear, either
    bit<7>  qos_group;           // what the input policy tells the output policy; on no wire
}

struct verdict_t {
    policy_t        policy;
    policy_t        output_policy;   // of the policy of the egress port; 0 where none took the packet
    stream_t        stream;
    traffic_class_t traffic_class;
    Colour          colour;
    bool            metered;         // whether a meter said the colour
    DropReason      drop_reason;
    ForwardingException exception;
}

struct router_t {
    bool     is_interface;       // whether the packet came in at a port that is a router's
    mac_t    mac;                // that port's
    bit<128> next_hop;           // whose MAC address is asked for, IPv4 as ::ffff:0:0/96; 0: nobody's
}

struct connection_t {
    bool     known;              // whether the packet is of a tracked TCP connection
    bool     closed;             // whether it is of one that was, and nobody has taken its slot since
    bool     accepted;           // whether its receiver would take it, as far as this node can know
    bool     damaged;            // whether it opens or closes, and its own checksum is wrong
    bit<16>  bytes;              // of a SYN, FIN or RST over IPv4: its length with its header
    bit<32>  slot;
    bit<1>   side;               // which of its ends sent the packet
    bit<8>   scale;              // of a SYN: its window scale (RFC 7323) as 0x80 + shift, 0 without
    bit<16>  segment;            // of a SYN: the largest segment its sender takes
    bit<36>  maximum;            // rates of the packet's policy in payload bytes per 2^20 us; 0: none
    bit<36>  minimum;
}

struct schedule_t {
    Discipline discipline;
    profile_t  profile;
    bit<32>    overhead;         // added to the Ethernet frame's bytes, two's complement; what the scheduler calls length
    traffic_class_t traffic_class; // whose queue it is, at a port with classes
    bit<32>    queue;            // the first slot of that queue; the port's own slot where it has one queue
    bit<32>    slot;             // the conversation; the queue itself where it has no conversations
    bit<1>     by_precedence;    // the weight is that of the precedence (schedule.weight)
    bit<1>     by_flows;         // the weight is that of all flows of the queue together
    level_t    level;
    bit<32>    weight;
    bit<32>    limit_packets;    // of the queue of the class; 0: no limit
    bit<32>    threshold_packets; // of a conversation; 0: no limit
    bit<32>    port_queued;      // packets at the port when this one came
    bit<32>    queued;           // packets in the queue when this one came
    bit<1>     early;            // early detection looks at the queue
    bit<64>    start;            // where the conversation's tags stood before this packet
    finish_t   finish;
}

// Which buffers a packet lies in, so that egress gives the bytes back to them.
struct buffer_t {
    bit<1>  accounted;
    bit<32> account;
    bit<32> pool;
    bit<32> own;                 // bytes in the stream's private buffer
    bit<32> shared;              // the rest, in the pool
}

struct metadata_t {
    tm_t       tm;
    version_t  version;
    bit<1>     track_connections;
    flow_t     flow;
    verdict_t  verdict;
    router_t   router;
    connection_t connection;
    schedule_t schedule;
    buffer_t   buffer;
}

#endif
