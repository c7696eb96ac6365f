// libdbus-1 as a Swift module, and the macros for passing descriptors, which Swift does not import.
#pragma once
#include <dbus/dbus.h>
#include <string.h>
#include <sys/socket.h>

// Sends bytes, and at most 253 descriptors with the first of them, without blocking and without SIGPIPE.
static inline ssize_t dbus_socket_send(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))];
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (descriptor_count > 0) {
    size_t size = descriptor_count * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), descriptors, size);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}
