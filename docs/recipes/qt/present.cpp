// Presents an item, waits until it has ended, and says why. The class of org.navd.Coordinator1 is generated:
//     qdbusxml2cpp /usr/share/dbus-1/interfaces/org.navd.Coordinator1.xml -i navdtypes.h -p coordinator
//     moc coordinator.h -o coordinator_moc.cpp
//     g++ -fPIC -std=c++17 -o present present.cpp coordinator.cpp coordinator_moc.cpp $(pkg-config --cflags --libs Qt6DBus)  # or Qt5DBus
#include <QtCore/QCoreApplication>
#include <QtCore/QTextStream>

#include "coordinator.h"
#include "navdtypes.h"

int main(int argc, char **argv) {
  QCoreApplication application(argc, argv);
  QTextStream out(stdout);
  registerNavdTypes();
  OrgNavdCoordinator1Interface navd("org.navd.Coordinator1", "/org/navd/Coordinator1", QDBusConnection::sessionBus());
  // An item may end only after hours.
  navd.setTimeout(INT_MAX);

  // Whatever the destination “fact” shows; a number is an int.
  auto presented = navd.Present("fact", "1", {{"title", "A fact"}, {"timeout", 250}});
  presented.waitForFinished();
  if (presented.isError()) {
    out << presented.error().name() << ": " << presented.error().message() << '\n';
    return 1;
  }
  out << presented.argumentAt<0>().path() << '\n' << "at most " << navd.limits()["items"] << " items\n";

  auto ended = navd.Wait(presented.argumentAt<0>(), "gone");
  ended.waitForFinished();
  out << ended.argumentAt<0>() << '\n';
}
