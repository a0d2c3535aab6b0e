/* A long wire between two tun devices: delay, a rate, and loss by a seeded generator, each way on its own.
 *
 * usage: relay DEVICE_A DEVICE_B DELAY_US RATE_MBIT LOSS_PER_MILLION SEED
 * Prints "ready" once both devices exist; they may then be moved to namespaces of their own. Ends with its standard
 * input, and then prints how many packets it carried and how many it lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_BYTES = 2048, QUEUE_PACKETS = 1 << 15 };
/* What waits for the wire longer than this is dropped, as by a router whose buffer is full. */
static const int64_t BUFFER_NS = 100000000;

struct packet {
    int64_t due_ns;
    int len;
    char bytes[PACKET_BYTES];
};

struct way {
    int from, to;
    int64_t wire_free_ns;
    uint64_t head, tail, carried, lost, dropped;
    struct packet *queue;
};

static int64_t delay_ns, loss_per_million;
static double ns_per_byte;
static uint64_t generator;

static void fail(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000 * (int64_t)now.tv_sec + now.tv_nsec;
}

static int open_device(const char *name)
{
    struct ifreq wanted = {0};
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0)
        fail("/dev/net/tun");
    wanted.ifr_flags = IFF_TUN | IFF_NO_PI;
    snprintf(wanted.ifr_name, sizeof wanted.ifr_name, "%s", name);
    if (ioctl(device, TUNSETIFF, &wanted) < 0)
        fail(name);
    return device;
}

/* xorshift64* */
static int is_lost(void)
{
    generator ^= generator >> 12;
    generator ^= generator << 25;
    generator ^= generator >> 27;
    return (int64_t)((generator * 2685821657736338717u >> 33) % 1000000) < loss_per_million;
}

/* Takes what a side sends. */
static void take(struct way *way)
{
    while (way->tail - way->head < QUEUE_PACKETS) {
        struct packet *packet = &way->queue[way->tail % QUEUE_PACKETS];
        const int64_t now = now_ns();
        packet->len = (int)read(way->from, packet->bytes, PACKET_BYTES);
        if (packet->len <= 0)
            return;
        if (is_lost()) {
            way->lost++;
            continue;
        }
        const int64_t begins = way->wire_free_ns > now ? way->wire_free_ns : now;
        if (begins - now > BUFFER_NS) {
            way->dropped++;
            continue;
        }
        way->wire_free_ns = begins + (int64_t)(packet->len * ns_per_byte);
        packet->due_ns = way->wire_free_ns + delay_ns;
        way->tail++;
    }
}

/* Hands over what has arrived; when the next does, or -1. */
static int64_t give(struct way *way)
{
    while (way->head < way->tail) {
        const struct packet *packet = &way->queue[way->head % QUEUE_PACKETS];
        if (packet->due_ns > now_ns())
            return packet->due_ns;
        if (write(way->to, packet->bytes, (size_t)packet->len) != packet->len && errno != EIO)
            return now_ns() + 100000;
        way->head++;
        way->carried++;
    }
    return -1;
}

static void carry(struct way *ways)
{
    struct pollfd watched[3] = {{ways[0].from, POLLIN, 0}, {ways[1].from, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    for (;;) {
        int64_t next = -1;
        for (int at = 0; at < 2; at++) {
            take(&ways[at]);
            const int64_t due = give(&ways[at]);
            if (due >= 0 && (next < 0 || due < next))
                next = due;
        }
        const int64_t now = now_ns();
        const int64_t rest = next < 0 ? 1000000000 : next > now ? next - now : 0;
        const struct timespec patience = {rest / 1000000000, rest % 1000000000};
        if (ppoll(watched, 3, &patience, NULL) < 0 && errno != EINTR)
            fail("poll");
        if (watched[2].revents)
            return;
    }
}

int main(int argc, char **argv)
{
    struct way ways[2] = {{0}, {0}};
    if (argc != 7) {
        fprintf(stderr, "usage: relay DEVICE_A DEVICE_B DELAY_US RATE_MBIT LOSS_PER_MILLION SEED\n");
        return 2;
    }
    delay_ns = 1000 * atoll(argv[3]);
    ns_per_byte = 8000 / atof(argv[4]);
    loss_per_million = atoll(argv[5]);
    generator = strtoull(argv[6], NULL, 10) + 1;
    ways[0].from = ways[1].to = open_device(argv[1]);
    ways[0].to = ways[1].from = open_device(argv[2]);
    for (int at = 0; at < 2; at++)
        if (!(ways[at].queue = calloc(QUEUE_PACKETS, sizeof *ways[at].queue)))
            fail("memory");
    printf("ready\n");
    fflush(stdout);
    carry(ways);
    for (int at = 0; at < 2; at++)
        printf("%llu carried, %llu lost, %llu dropped\n", (unsigned long long)ways[at].carried,
               (unsigned long long)ways[at].lost, (unsigned long long)ways[at].dropped);
    return 0;
}
